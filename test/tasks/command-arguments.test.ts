import assert from "node:assert/strict"
import { describe, test } from "vitest"
import type { BelfryError, Json } from "../../src/index.ts"
import { type CommandDefinition, commandTask } from "../../src/tasks.ts"
import { performTask } from "../support/task-run.ts"
import { node, perform } from "./command-run.ts"

describe("arguments", () => {
  const show = { argv: node("console.log(JSON.stringify(process.argv.slice(1)))", "--", "{a}", "x={a}{b}") }
  const args = { a: { pattern: ".*", maxLength: 100 }, b: { oneOf: ["1", "2"], default: "1" } }

  async function refusalOf(given: Json, definition: CommandDefinition = { ...show, args }): Promise<string> {
    const error = await perform(definition, { args: given }).ended.then(
      () => assert.fail("the arguments were accepted"),
      (thrown: BelfryError) => thrown,
    )
    assert.equal(error.code, "BELFRY_PAYLOAD_INVALID")
    return error.message
  }

  for (const value of [
    "$(touch /tmp/belfry-pwned)",
    "`id`",
    "a; id",
    "a b  c",
    "'\"",
    "{b}",
    "$& $1",
    "*",
    "&& id",
    "%s",
    "",
  ]) {
    test(`${JSON.stringify(value)} reaches the program as it is, as one argument`, async () => {
      const { ended, lines } = perform({ ...show, args }, { args: { a: value, b: "2" } })
      await ended

      assert.deepEqual(JSON.parse(lines[0]!), [value, `x=${value}2`])
    })
  }

  test("a missing argument gets its default, and a number becomes a string", async () => {
    const { ended, lines } = perform({ ...show, args }, { args: { a: 7 } })
    await ended

    assert.deepEqual(JSON.parse(lines[0]!), ["7", "x=71"])
  })

  test("a value that starts with a dash is refused, unless mayStartWithDash is set", async () => {
    assert.match(await refusalOf({ a: "--upload-pack=evil" }), /args\.a: starts with "-"/)
    const dashing = { ...show, args: { ...args, a: { pattern: "-\\d", mayStartWithDash: true } } }

    assert.equal((await perform(dashing, { args: { a: "-5" } }).ended).success, true)
  })

  test("a pattern must match the whole value, also with several lines and with flags", async () => {
    const strict = (pattern: string | RegExp) => ({ argv: ["echo", "{a}"], args: { a: { pattern } } })

    assert.match(await refusalOf({ a: "ok; id" }, strict("ok")), /args\.a: doesn't match/)
    assert.match(await refusalOf({ a: "ok\nid" }, strict(/^ok$/gm)), /doesn't match/)
    assert.match(await refusalOf({ a: "x" }, strict("ok|y")), /doesn't match/)
    assert.equal((await perform(strict(/ok/gi), { args: { a: "OK" } }).ended).success, true)
  })

  test("unknown commands and arguments, and values of a wrong type or length, are refused", async () => {
    const task = commandTask({ commands: { it: { ...show, args } } })
    const refused = (payload: Json) =>
      assert.rejects(performTask(task, payload).ended, { code: "BELFRY_PAYLOAD_INVALID" })

    for (const command of ["other", "constructor", "__proto__", "", 1, null]) await refused({ command })
    await refused({ command: "it", args: { a: "x" }, shell: true })
    await refused({ command: "it", argv: ["sh"] })
    assert.match(await refusalOf({ a: "x", c: "y" }), /args\.c: command "it" has no such argument/)
    assert.match(await refusalOf({}), /args\.a: expected a string, received nothing/)
    assert.match(await refusalOf({ a: ["x"] }), /args\.a: expected a string, received a list/)
    assert.match(await refusalOf({ a: "x", b: "3" }), /args\.b: is not one of 1, 2/)
    assert.match(await refusalOf({ a: "x".repeat(101) }), /args\.a: is longer than 100/)
    assert.match(await refusalOf({ a: "x\0y" }), /args\.a: contains a NUL character/)
    assert.match(await refusalOf([]), /args: expected an object/)
  })
})

describe("definitions", () => {
  const invalid = (definition: unknown, message: RegExp) =>
    assert.throws(
      () => commandTask({ commands: { it: definition as CommandDefinition } }),
      (error: BelfryError) => {
        assert.equal(error.code, "BELFRY_TASK_INVALID")
        assert.match(error.message, message)
        return true
      },
    )

  test("an invalid definition is refused when the task is defined", () => {
    invalid({ argv: "pg_dump main" }, /a shell command line is not possible/)
    invalid({ argv: [] }, /needs `argv`/)
    invalid({ argv: ["{a}"], args: { a: { pattern: "x" } } }, /must name its program without placeholders/)
    invalid({ argv: ["echo", "{a}"] }, /no such argument in `args`/)
    invalid({ argv: ["echo"], args: { a: { pattern: "x" } } }, /no \{a\} in `argv`/)
    invalid({ argv: ["echo", "{a}"], args: { a: {} } }, /either `pattern` or `oneOf`/)
    invalid(
      { argv: ["echo", "{a}"], args: { a: { pattern: "x", default: "y" } } },
      /default for argument "a" that doesn't match/,
    )
    assert.throws(() => commandTask({ commands: {} }), /needs `commands`/)
  })
})
