import assert from "node:assert/strict"
import { describe, test } from "vitest"
import type { Schedule } from "../../src/core/schedule/schedule.ts"
import type { ScheduleView } from "../../src/index.ts"
import type { Check } from "../../src/store/check.ts"
import { getSchedule } from "./nightly.ts"
import { terminal } from "./support.ts"
import { holding, holdingWith } from "./terminal-on-store.ts"

const GOOD: Partial<Schedule> = { id: "good" }
const BROKEN: readonly Partial<Schedule>[] = [
  { id: "bad-cron", triggers: [{ kind: "cron", cron: "0 25 * * *", dayMatch: "either" }] },
  { id: "bad-zone", timezone: "Mars/Base" },
  { id: "bad-kind", triggers: [{ kind: "moon" } as never] },
  { id: "bad-start", startsAt: 1e20 },
  { id: "with-error", lastError: "its row can't be read" },
]
const IDS = BROKEN.map(({ id }) => id!)

describe("schedules that can't be planned", () => {
  test("doctor prints each of them with its problem, does the other checks, and exits 1", async () => {
    const shell = await holdingWith(["report"], GOOD, ...BROKEN)

    const { code, out } = await shell.run("doctor")

    assert.equal(code, 1)
    for (const id of IDS) assert.match(out, new RegExp(`✕ broken +${id} can't be planned: .`))
    assert.match(out, /bad-cron can't be planned: Hour "25"/)
    assert.match(out, /with-error can't be planned: its row can't be read/)
    assert.ok(!out.includes("good can't"))
    assert.match(out, /✓ runs/)
  })

  test.each(["yaml", "json", "ts"])(
    "export --format %s leaves them out with a warning, and exits 1",
    async (format) => {
      const shell = await holding(GOOD, ...BROKEN)

      const { code, out, err } = await shell.run("export", "--format", format)

      assert.equal(code, 1)
      assert.match(out, /good/)
      for (const id of IDS) {
        assert.ok(!out.includes(id))
        assert.match(err, new RegExp(`${id} is left out because it can't be planned: .`))
      }
    },
  )

  test("export --format crontab writes them as comments with the reason", async () => {
    const shell = await holding(...BROKEN)

    const { code, out } = await shell.run("export", "--format", "crontab")

    assert.equal(code, 1)
    for (const id of IDS)
      assert.match(out, new RegExp(`# ${id}\\n# not in a crontab: it can't be planned: .`))
  })

  test.each(IDS)("schedule get shows the problem of %s", async (id) => {
    const shell = await holding(GOOD, ...BROKEN)

    const { code, out, err } = await shell.run("schedule", "get", id)

    assert.equal(code, 0, err)
    assert.match(out, /Problem +\S/)
  })
})

describe("a schedule with an unreadable option", () => {
  const written = { "over-lp": "queue", timeout: "10m", catchUp: "none" }
  const why = 'options: over-lp is not an option. Did you mean overlap? Its value is "queue".'
  const cron = { kind: "cron", cron: "0 7 * * *", dayMatch: "either" } as const
  const LOSE: Partial<Schedule> = {
    id: "lose",
    triggers: [cron, { kind: "unreadable", why, options: { written, unread: ["over-lp"] } }],
    timeoutMs: 600_000,
    lastError: why,
  }

  test("doctor prints the unreadable option and the command that removes it", async () => {
    const shell = await holdingWith(["report"], GOOD, LOSE)

    const { out } = await shell.run("doctor")
    const repaired = await shell.run("schedule", "set", "lose", "--unset", "over-lp")
    const after = await shell.run("schedule", "get", "lose", "--json")

    assert.match(out, /lose can't be planned: options: over-lp is not an option/)
    assert.match(out, /belfry schedule set lose --unset over-lp/)
    assert.equal(repaired.code, 0, repaired.err)
    const { lastError, timeoutMs, catchUp } = JSON.parse(after.out)
    assert.deepEqual([lastError, timeoutMs, catchUp.policy], [null, 600_000, "none"])
  })

  test("schedule get shows its timetable", async () => {
    const shell = await holding(LOSE)

    const { out } = await shell.run("schedule", "get", "lose")

    assert.match(out, /At 07:00 every day/)
    assert.doesNotMatch(out, /unreadable|Never/)
  })

  test.each([
    ["another time", ["--cron", "@hourly"]],
    ["the correct option", ["--overlap", "queue"]],
  ])("schedule set with %s alone is refused, and the error has the unreadable option", async (_, flags) => {
    const shell = await holding(LOSE)

    const { code, err } = await shell.run("schedule", "set", "lose", ...flags)

    assert.equal(code, 6, err)
    assert.match(err, /over-lp is not an option.*Its value is "queue"\. Remove over-lp in the same update/s)
  })
})

describe("doctor reports a problem", () => {
  const problemsOf = async (shell: Awaited<ReturnType<typeof holding>>) => {
    const { code, out } = await shell.run("doctor", "--json")
    return { code, problems: (JSON.parse(out) as Check[]).filter(({ result }) => result === "problem") }
  }

  test("if no worker offers the task of a schedule", async () => {
    const shell = await holdingWith(["report", "digest"], GOOD, { id: "typo", task: "digset" })

    const { code, problems } = await problemsOf(shell)

    assert.equal(code, 1)
    assert.deepEqual(
      problems.map(({ name, message }) => [name, message]),
      [["tasks", "no worker offers digset (schedule typo)"]],
    )
    assert.match(problems[0]!.remedy!, /Did you mean digest\?/)
  })

  test("but not for the task of a disabled, paused or finished schedule", async () => {
    const shell = await holdingWith(
      ["report"],
      { id: "off", task: "old", enabled: false },
      { id: "paused", task: "old", paused: { at: 0, until: null, reason: null, by: null } },
      { id: "done", task: "old", finishedAt: 1 },
    )

    assert.deepEqual(await problemsOf(shell), { code: 0, problems: [] })
  })

  test("if a schedule depends on one that doesn't exist", async () => {
    const shell = await holdingWith(["report"], GOOD, {
      ...{ id: "after", dependsOn: [{ scheduleId: "gone", withinMs: 1_000 }] },
    })

    const { code, problems } = await problemsOf(shell)

    assert.equal(code, 1)
    assert.equal(problems[0]!.message, "after depends on gone, which doesn't exist")
  })
})

describe("a schedule of a task that no worker offers", () => {
  test("create warns, with the most similar known task", async () => {
    const shell = await holdingWith(["send-report"])
    const made = (key: string, task: string) => shell.run("s", "create", key, "--task", task, "--every", "1h")

    const typo = await made("a", "send-reprot")
    const unlike = await made("b", "vacuum")
    const known = await made("c", "send-report")
    const builtIn = await terminal().run(
      "s",
      "create",
      "d",
      "--task",
      "http",
      "--every",
      "1h",
      "--payload",
      '{"url":"https://example.com"}',
    )

    assert.equal(typo.code, 0)
    assert.match(
      typo.err,
      /Neither a worker nor this configuration has the task "send-reprot".* Did you mean send-report\?/,
    )
    assert.match(unlike.err, /Known tasks: http, send-report\./)
    assert.ok(!known.err.includes("Neither a worker"))
    assert.ok(!builtIn.err.includes("Neither a worker"))
  })

  test("schedule list and schedule get show it", async () => {
    const shell = await holdingWith(["report"], GOOD, { id: "typo", task: "reprot" })

    assert.match((await shell.run("s", "list")).err, /No worker offers reprot \(did you mean report\?\)/)
    const words = 'No worker that is online offers the task "reprot": its runs wait.'
    assert.ok((await shell.run("s", "get", "typo")).out.includes(words))
    assert.ok((await shell.run("s", "list", "-o", "wide")).out.includes(words))
    assert.deepEqual((await getSchedule(shell, "typo")).problems, [{ kind: "no-worker", message: words }])
    const listed = await shell.json<readonly ScheduleView[]>("s", "list")
    assert.deepEqual(
      listed.map(({ id, problems }) => [id, problems.map(({ kind }) => kind)]),
      [
        ["good", []],
        ["typo", ["no-worker"]],
      ],
    )
    assert.ok(!(await shell.run("s", "get", "good")).out.includes("Problem"))
  })
})

test("schedule list prints how many schedules it doesn't show", async () => {
  const shell = await holding({ id: "a" }, { id: "b" }, { id: "c" })

  assert.match(
    (await shell.run("s", "list", "--limit", "1")).err,
    /2 more schedules are not shown\. To show them: --limit 3/,
  )
})

test("with a filter that the store can't count by, schedule list prints only whether more schedules match", async () => {
  const overridden = { owner: "code", declaredAs: "something else" }
  const soon = { nextRunAt: Date.now() + 60_000 }
  const shell = await holding(
    { id: "a", ...overridden, ...soon },
    { id: "b", ...overridden, ...soon },
    { id: "c" },
    { id: "d" },
  )
  const list = async (...argv: string[]) => (await shell.run("s", "list", ...argv)).err

  for (const filter of [
    ["--status", "overridden"],
    ["--next", "1h"],
  ]) {
    assert.match(
      await list(...filter, "--limit", "1"),
      /^More schedules match\. To show more: --limit COUNT$/m,
    )
    assert.doesNotMatch(await list(...filter, "--limit", "2"), /More schedules|not shown/)
  }
})
