import assert from "node:assert/strict"
import { mkdtempSync, realpathSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, describe, test } from "vitest"
import type { BelfryError, Json } from "../../src/index.ts"
import { type CommandDefinition, type CommandTaskOptions, commandTask } from "../../src/tasks.ts"
import { isAlive, pidIn } from "../support/processes.ts"
import { performTask } from "../support/task-run.ts"

const node = (code: string, ...rest: readonly string[]) => [process.execPath, "-e", code, ...rest]

/** One attempt of one command, named "it". */
function perform(
  definition: CommandDefinition,
  about: { args?: Json; signal?: AbortSignal } & Omit<CommandTaskOptions, "commands"> = {},
) {
  const { args, signal, ...options } = about
  const task = commandTask({ ...options, commands: { it: definition } })
  return performTask(
    task,
    { command: "it", ...(args !== undefined && { args }) },
    signal === undefined ? {} : { signal },
  )
}

describe("how a command ends", () => {
  test("exit code 0 succeeds, and both outputs are in the log, line by line", async () => {
    const { ended, lines } = perform({
      argv: node("console.log('one\\ntwo'); console.error('three'); process.stdout.write('four')"),
    })

    const { success, message, details } = await ended

    assert.equal(success, true, message)
    assert.deepEqual([details["exitCode"], details["signal"], details["isCut"]], [0, null, false])
    assert.deepEqual([details["stdoutBytes"], details["stderrBytes"]], [12, 6])
    assert.deepEqual([...lines].sort(), ["four", "one", "three", "two"])
  })

  test("any other exit code fails, and is kept", async () => {
    const { success, message, details } = await perform({ argv: node("process.exit(3)") }).ended

    assert.deepEqual([success, details["exitCode"]], [false, 3])
    assert.match(message, /Command "it" ended with exit code 3/)
  })

  test("a command that a signal ends fails, and the signal is kept", async () => {
    const { success, details } = await perform({ argv: node("process.kill(process.pid, 'SIGABRT')") }).ended

    assert.deepEqual([success, details["exitCode"], details["signal"]], [false, null, "SIGABRT"])
  })

  test("a program or a folder that isn't there, or can't be run, is told", async () => {
    const missing = await perform({ argv: ["no-such-program-anywhere"] }).ended
    const folder = await perform({ argv: ["true"], cwd: "/no/such/folder" }).ended
    const file = join(mkdtempSync(join(tmpdir(), "belfry-command-")), "no-program")
    writeFileSync(file, "", { mode: 0o600 })
    const forbidden = await perform({ argv: [file] }).ended

    assert.match(missing.message, /there is no program "no-such-program-anywhere" \(ENOENT\)/)
    assert.match(folder.message, /there is no folder "\/no\/such\/folder"/)
    assert.match(forbidden.message, /could not be started: EACCES/)
    assert.deepEqual(
      [missing, folder, forbidden].map(({ success }) => success),
      [false, false, false],
    )
  })

  test("a command that closes its outputs is waited for", async () => {
    const code =
      "require('fs').closeSync(1); require('fs').closeSync(2); setTimeout(() => process.exit(7), 200)"

    const { details } = await perform({ argv: node(code) }).ended

    assert.equal(details["exitCode"], 7)
  })

  test("what a command leaves behind in its group ends with it", async () => {
    const { ended, lines } = perform({ argv: ["sh", "-c", "sleep 60 & echo child $!"] }, { grace: "1s" })

    const { success } = await ended

    assert.equal(success, true)
    assert.equal(isAlive(await pidIn(lines, "child")), false)
  })
})

describe("what a command is given", () => {
  afterEach(() => {
    delete process.env["BELFRY_TEST_SECRET"]
    delete process.env["BELFRY_TEST_ALLOWED"]
  })

  test("a clean environment: a few names, those allowed, and the run's", async () => {
    process.env["BELFRY_TEST_SECRET"] = "1"
    process.env["BELFRY_TEST_ALLOWED"] = "2"

    const { ended, lines } = perform({ argv: ["env"], env: ["BELFRY_TEST_ALLOWED", "BELFRY_TEST_UNSET"] })
    await ended

    const names = lines.map((line) => line.split("=")[0]!)
    const known = [
      "PATH",
      "HOME",
      "LANG",
      "TZ",
      "BELFRY_TEST_ALLOWED",
      "BELFRY_RUN_ID",
      "BELFRY_ATTEMPT",
      "BELFRY_SCHEDULED_FOR",
    ]
    assert.deepEqual(
      names.filter((name) => !known.includes(name)),
      [],
    )
    assert.ok(
      lines.includes("BELFRY_TEST_ALLOWED=2") &&
        lines.includes("BELFRY_RUN_ID=nightly@2026-01-01T00:00:00.000Z"),
    )
  })

  test("its folder, and no input", async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "belfry-command-")))

    const { ended, lines } = perform({ argv: ["sh", "-c", "pwd; cat; echo end"], cwd: folder })
    await ended

    assert.deepEqual(lines, [folder, "end"])
  })

  test("a process group of its own", async () => {
    const { ended, lines } = perform({
      argv: ["sh", "-c", "echo $$ $(ps -o pgid= -p $$) $(ps -o sid= -p $$)"],
    })
    await ended

    const [pid, group, session] = lines[0]!.split(" ")
    assert.deepEqual([group, session], [pid, pid])
  })

  test("another user, if the worker may", { skip: process.getuid?.() !== 0 }, async () => {
    const { ended, lines } = perform({ argv: ["id", "-u"], uid: 65_534, gid: 65_534, cwd: "/" })
    await ended

    assert.deepEqual(lines, ["65534"])
  })
})

describe("arguments", () => {
  const show = { argv: node("console.log(JSON.stringify(process.argv.slice(1)))", "--", "{a}", "x={a}{b}") }
  const args = { a: { pattern: ".*", maxLength: 100 }, b: { oneOf: ["1", "2"], default: "1" } }

  async function refusalOf(given: Json, definition: CommandDefinition = { ...show, args }): Promise<string> {
    const error = await perform(definition, { args: given }).ended.then(
      () => assert.fail("it was accepted"),
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

  test("a default stands in, and a number is written as text", async () => {
    const { ended, lines } = perform({ ...show, args }, { args: { a: 7 } })
    await ended

    assert.deepEqual(JSON.parse(lines[0]!), ["7", "x=71"])
  })

  test("a value that would be an option is refused, unless it is said that it may", async () => {
    assert.match(await refusalOf({ a: "--upload-pack=evil" }), /args\.a: starts with "-"/)
    const dashing = { ...show, args: { ...args, a: { pattern: "-\\d", mayStartWithDash: true } } }

    assert.equal((await perform(dashing, { args: { a: "-5" } }).ended).success, true)
  })

  test("a pattern holds for the whole value, also over lines and with flags", async () => {
    const strict = (pattern: string | RegExp) => ({ argv: ["echo", "{a}"], args: { a: { pattern } } })

    assert.match(await refusalOf({ a: "ok; id" }, strict("ok")), /args\.a: doesn't match/)
    assert.match(await refusalOf({ a: "ok\nid" }, strict(/^ok$/gm)), /doesn't match/)
    assert.match(await refusalOf({ a: "x" }, strict("ok|y")), /doesn't match/)
    assert.equal((await perform(strict(/ok/gi), { args: { a: "OK" } }).ended).success, true)
  })

  test("what isn't offered is refused: commands, arguments, kinds, lengths", async () => {
    const task = commandTask({ commands: { it: { ...show, args } } })
    const refused = (payload: Json) =>
      assert.rejects(performTask(task, payload).ended, { code: "BELFRY_PAYLOAD_INVALID" })

    for (const command of ["other", "constructor", "__proto__", "", 1, null]) await refused({ command })
    await refused({ command: "it", args: { a: "x" }, shell: true })
    await refused({ command: "it", argv: ["sh"] })
    assert.match(await refusalOf({ a: "x", c: "y" }), /args\.c: command "it" has no such argument/)
    assert.match(await refusalOf({}), /args\.a: expected a text, received nothing/)
    assert.match(await refusalOf({ a: ["x"] }), /args\.a: expected a text, received a list/)
    assert.match(await refusalOf({ a: "x", b: "3" }), /args\.b: is none of 1, 2/)
    assert.match(await refusalOf({ a: "x".repeat(101) }), /args\.a: is longer than 100/)
    assert.match(await refusalOf({ a: "x\0y" }), /args\.a: holds a NUL/)
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

  test("mistakes show when the task is defined", () => {
    invalid({ argv: "pg_dump main" }, /a line for a shell is not possible/)
    invalid({ argv: [] }, /needs `argv`/)
    invalid({ argv: ["{a}"], args: { a: { pattern: "x" } } }, /has to name its program in full/)
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

describe("stopping", () => {
  test("a timeout stops the command with SIGTERM and fails the attempt", async () => {
    const { success, message, details } = await perform({ argv: ["sleep", "60"], timeout: "300ms" }).ended

    assert.equal(success, false)
    assert.match(message, /was stopped after its timeout of 300ms/)
    assert.deepEqual([details["signal"], details["timedOut"]], ["SIGTERM", true])
    assert.ok(Number(details["durationMs"]) < 2_000)
  })

  test("an abort stops the whole group, children and grandchildren, and is passed on", async () => {
    const controller = new AbortController()
    const { ended, lines } = perform(
      { argv: ["sh", "-c", "sh -c 'sleep 60 & echo grandchild $!; wait' & echo child $!; wait"] },
      { signal: controller.signal },
    )
    const pids = [await pidIn(lines, "child"), await pidIn(lines, "grandchild")]

    controller.abort(new Error("cancelled by somebody"))

    await assert.rejects(ended, /cancelled by somebody/)
    assert.deepEqual(pids.map(isAlive), [false, false])
  })

  test("processes that ignore SIGTERM are gone a second after the grace", async () => {
    const controller = new AbortController()
    const deaf =
      "trap '' TERM; sh -c \"trap '' TERM; echo grandchild \\$\\$; while :; do sleep 1; done\" & echo child $$; while :; do sleep 1; done"
    const { ended, lines } = perform(
      { argv: ["sh", "-c", deaf] },
      { signal: controller.signal, grace: "500ms" },
    )
    const pids = [await pidIn(lines, "child"), await pidIn(lines, "grandchild")]

    const abortedAt = performance.now()
    controller.abort(new Error("cancelled"))
    await assert.rejects(ended, /cancelled/)

    assert.ok(performance.now() - abortedAt < 5_000)
    assert.deepEqual(pids.map(isAlive), [false, false])
  })

  test("a command that is aborted before it starts leaves nothing", async () => {
    const { ended } = perform(
      { argv: ["sleep", "60"] },
      { signal: AbortSignal.abort(new Error("too late")), grace: "200ms" },
    )

    await assert.rejects(ended, /too late/)
  })

  test("a guard that is killed takes its command with it", async () => {
    const { ended, lines } = perform({ argv: ["sh", "-c", "echo child $$; echo guard $PPID; sleep 60"] })
    const child = await pidIn(lines, "child")

    process.kill(await pidIn(lines, "guard"), "SIGKILL")
    const { success } = await ended

    assert.equal(success, false)
    // The kernel tells the command; on a busy machine that takes a moment. By itself it would go on for a minute.
    for (let times = 0; isAlive(child) && times < 100; times++) await sleep(50)
    assert.equal(isAlive(child), false)
  })
})

describe("output", () => {
  test("more lines than are kept: the first and the last are", async () => {
    const { ended, lines } = perform({ argv: ["seq", "1", "100000"] }, { maxLines: 10 })
    const { details } = await ended

    assert.deepEqual(lines.slice(0, 10), ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"])
    assert.match(lines[10]!, /more was written than is kept/)
    assert.equal(lines.at(-1), "100000")
    assert.ok(lines.length < 2_000)
    assert.deepEqual([details["isCut"], details["stdoutBytes"]], [true, 588_895])
  })

  test("a line without an end is cut, and characters stay whole across reads", async () => {
    const code =
      "process.stdout.write('x'.repeat(1e6) + '\\nü'); setTimeout(() => process.stdout.write('ü\\r\\n'), 50)"

    const { ended, lines } = perform({ argv: node(code) })
    await ended

    assert.equal(lines[0], `${"x".repeat(8_192)}… (cut)`)
    assert.equal(lines[1], "üü")
  })

  test("a process that left the group and holds the output doesn't hold the run", async () => {
    const { ended, lines } = perform({
      argv: ["sh", "-c", "setsid sh -c 'echo child $$; exec sleep 30' & sleep 0.3"],
    })

    const { success, details } = await ended
    process.kill(await pidIn(lines, "child"), "SIGKILL")

    assert.equal(success, true)
    assert.ok(Number(details["durationMs"]) < 3_000)
  })
})
