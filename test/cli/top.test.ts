import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { keysIn, press, TOP_START, type TopRow, type TopState } from "../../src/cli/top/top-keys.ts"
import type { RunView, ScheduleView } from "../../src/index.ts"
import { type Terminal, terminal } from "./support.ts"

const runRow = (id: string, state: RunView["state"], scheduleId: string | null = "nightly"): TopRow => ({
  name: `run ${id}`,
  run: { id, state, scheduleId } as RunView,
  schedule: null,
})
const ROWS: readonly TopRow[] = [
  runRow("r1", "running"),
  { name: "schedule nightly", run: null, schedule: { id: "nightly" } as ScheduleView },
  runRow("r2", "failed", null),
]
const on = (chosen: string): TopState => ({ ...TOP_START, chosen })

describe("the keys of top", () => {
  test.each([
    ["run r1", "t", { kind: "trigger", scheduleId: "nightly" }],
    ["schedule nightly", "t", { kind: "trigger", scheduleId: "nightly" }],
    ["schedule nightly", "p", { kind: "pause", scheduleId: "nightly" }],
    ["schedule nightly", "l", { kind: "newest-log", scheduleId: "nightly" }],
    ["run r2", "l", { kind: "log", runId: "r2" }],
    ["run r2", "\r", { kind: "log", runId: "r2" }],
    ["run r1", "q", { kind: "leave" }],
    ["run r1", "\u0003", { kind: "leave" }],
    ["run r1", "x", null],
  ] as const)("on %s, the key %j has its action", (chosen, key, action) => {
    assert.deepEqual(press(on(chosen), ROWS, key).action, action)
  })

  test.each([
    ["schedule nightly", "c", /Choose a run/],
    ["run r2", "c", /r2 is already failed/],
    ["run r2", "t", /r2 has no schedule/],
    ["run r1", "s", /by id/],
  ] as const)("on %s, the key %j only shows a message", (chosen, key, message) => {
    const pressed = press(on(chosen), ROWS, key)

    assert.equal(pressed.action, null)
    assert.match(pressed.state.message, message)
  })

  test("cancel asks for confirmation, and only y confirms", () => {
    const asked = press(on("run r1"), ROWS, "c").state

    assert.deepEqual(asked.mode, { kind: "cancel", runId: "r1" })
    assert.deepEqual(press(asked, ROWS, "y").action, { kind: "cancel", runId: "r1" })
    assert.equal(press(asked, ROWS, "q").action, null)
    assert.equal(press(asked, ROWS, "\r").state.message, "Not cancelled.")
  })

  test("up and down stop at the ends, and the chosen row stays chosen when the order changes", () => {
    const down = (state: TopState) => press(state, ROWS, "\u001b[B").state
    const second = down(TOP_START)
    const last = down(down(down(second)))

    assert.equal(second.chosen, "schedule nightly")
    assert.equal(last.chosen, "run r2")
    assert.equal(press(last, ROWS.toReversed(), "k").state.chosen, "run r2")
    assert.deepEqual(press(TOP_START, [], "j").state.chosen, null)
  })

  test("a filter is kept by Enter and undone by Escape, and its letters are not commands", () => {
    const type = (text: string, state: TopState) =>
      keysIn(text).reduce((after, key) => press(after, ROWS, key).state, state)

    assert.equal(type("fqt\u007fp", TOP_START).filter, "qp")
    assert.deepEqual(type("fqp\r", TOP_START), { ...TOP_START, filter: "qp" })
    assert.equal(type("fab\u001b", { ...TOP_START, filter: "before" }).filter, "before")
    assert.equal(type("\u001b", { ...TOP_START, filter: "before" }).filter, "")
  })

  test("any key closes the help", () => {
    const help = press(TOP_START, ROWS, "?").state

    assert.equal(help.mode.kind, "help")
    assert.deepEqual(press(help, ROWS, "q"), { state: TOP_START, action: null })
  })

  test("the input of a terminal is split into keys", () => {
    assert.deepEqual(keysIn("j\u001b[A\u001bOBé\u001b"), ["j", "\u001b[A", "\u001bOB", "é", "\u001b"])
  })
})

async function watching(): Promise<{ shell: Terminal; ended: Promise<{ code: number; out: string }> }> {
  const shell = terminal({ isTerminal: true })
  for (const key of ["beta", "alpha"]) {
    const every = key === "alpha" ? "2h" : "1h"
    await shell.run("schedule", "create", key, "--task", `task-of-${key}`, "--every", every)
  }
  await shell.shows(/alpha/)
  const ended = shell.run("top", "--interval", "200ms")
  await shell.shows(/SCHEDULES \(2\)/)
  return { shell, ended }
}

describe("top on a terminal", () => {
  test("with 40 columns shows the schedules, and q quits", async () => {
    const shell = terminal({ isTerminal: true, columns: 40 })
    await shell.run("schedule", "create", "nightly", "--task", "t", "--every", "1h")
    const ended = shell.run("top", "--interval", "200ms")
    await shell.shows(/SCHEDULES \(1\)/)

    shell.press("q")

    assert.equal((await ended).code, 0)
  })

  test("keys pause, resume, trigger, filter, sort, open a log, cancel and quit", async () => {
    const { shell, ended } = await watching()
    const step = async (keys: string, pattern: RegExp) => {
      shell.press(keys)
      return shell.shows(pattern)
    }

    await step("jp", /Paused alpha/)
    await step("p", /Resumed alpha/)
    await step("t", /Triggered alpha\+/)
    await step("l", /Log of alpha\+[\s\S]*No log lines yet/)
    await step(" ", /SCHEDULES/)
    await step("fbeta\r", /SCHEDULES \(1\), by next {2}matching "beta"/)
    await step("\u001b", /SCHEDULES \(2\)/)
    await step("s", /Schedules by id/)
    await step("?", /KEYS[\s\S]*sort schedules/)
    await step(" c", /Choose a run to cancel/)
    await step("kkkc", /Cancel alpha\+.*\? \[y\/N\]/)
    await step("y", /Cancelled alpha\+/)
    shell.press("q")

    const { code, out } = await ended
    assert.equal(code, 0)
    assert.ok(out.startsWith("\u001b[?1049h") && out.endsWith("\u001b[?1049l"), "the terminal is restored")
    const [run] = await shell.json<RunView[]>("run", "list")
    assert.deepEqual([run!.scheduleId, run!.state, run!.by], ["alpha", "cancelled", "ada@host"])
    assert.equal((await shell.json<ScheduleView>("schedule", "get", "alpha")).paused, null)
  })

  test("shows tasks that no worker offers under ATTENTION", async () => {
    const { shell, ended } = await watching()
    shell.signal("SIGTERM")

    assert.match((await ended).out, /ATTENTION[\s\S]*! no worker offers task-of-alpha/)
  })
})
