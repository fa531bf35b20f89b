import assert from "node:assert/strict"
import { describe, test } from "vitest"
import type { RunSummaryView, RunView, ScheduleView } from "../../src/index.ts"
import { terminal } from "./support.ts"

describe("migrate", () => {
  test("prints the schema number before and after, and only up changes the store", async () => {
    const shell = terminal()

    const before = await shell.json<{ schema: number; known: number }>("migrate", "status")
    const plan = await shell.run("migrate", "plan")
    const made = await shell.run("migrate")
    const after = await shell.json<{ schema: number; isCurrent: boolean }>("migrate", "status")

    assert.deepEqual([before.schema, plan.code], [0, 1])
    assert.match(plan.out, /no schema yet; it would be created at schema \d+/)
    assert.match(made.out, /was created at schema \d+; \d+ ms/)
    assert.deepEqual([after.schema, after.isCurrent], [before.known, true])
    assert.equal((await shell.run("migrate", "plan")).code, 0)
    assert.equal((await shell.run("migrate", "down")).code, 2)
    assert.match((await shell.run("doctor")).out, new RegExp(`✓ schema +${before.known}, the newest`))
  })
})

describe("the setting command", () => {
  test("limits the output of the command task", async () => {
    const shell = terminal()
    const config = { commands: { many: { argv: ["seq", "100"] } }, command: { maxLines: 7, grace: "1s" } }
    shell.write("belfry.config.json", JSON.stringify(config))
    await shell.run(
      "s",
      "create",
      "m",
      "--task",
      "command",
      "--every",
      "1h",
      "--payload",
      '{"command":"many"}',
    )
    const ended = shell.run("start")
    await shell.shows(/Ctrl-C stops it/)

    await shell.run("s", "trigger", "m", "--wait")
    const [{ id }] = await shell.json<[RunSummaryView]>("run", "list")
    const run = await shell.json<RunView>("run", "get", id)
    shell.signal("SIGTERM")
    await ended

    assert.equal((run.details as { isCut: boolean }).isCut, true)
  })

  test.each([
    [{ command: { vacuum: { argv: ["x"] } } }, /unknown part "vacuum"/],
    [{ command: { grace: "1s" } }, /no effect without "commands"/],
  ])("is refused at start: %j", async (config, message) => {
    const shell = terminal()
    shell.write("belfry.config.json", JSON.stringify(config))

    const { code, err } = await shell.run("start")

    assert.equal(code, 2)
    assert.match(err, message)
  })
})

test("of two configurations in one folder one is read, and a warning has both names", async () => {
  const shell = terminal({ isTerminal: true, columns: 80 })
  shell.write("belfry.config.json", "{}")
  shell.write("belfry.config.mjs", "export default { concurrency: 3 }")

  const { code, out, err } = await shell.run("config", "explain")
  const named = await shell.run("config", "explain", "--config", "belfry.config.json")

  assert.equal(code, 0, err)
  assert.match(err, /^warning: .*belfry\.config\.mjs is read, belfry\.config\.json is not/)
  assert.match(out, /concurrency +3 +belfry\.config\.mjs$/m)
  assert.doesNotMatch(named.err, /warning/)
})

test("a configuration may be YAML", async () => {
  const shell = terminal()
  shell.write("belfry.config.yaml", "store: ./other.db\n")

  await shell.run("s", "create", "n", "--task", "t", "--every", "1h")

  const [schedule] = await shell.json<ScheduleView[]>("s", "list", "--store", "./other.db", "--no-config")
  assert.equal(schedule!.id, "n")
})
