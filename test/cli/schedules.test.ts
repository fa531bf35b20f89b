import assert from "node:assert/strict"
import { describe, test } from "vitest"
import type { ScheduleView } from "../../src/index.ts"
import { type Terminal, terminal } from "./support.ts"

const NIGHTLY = ["--task", "report", "--cron", "30 2 * * *", "--tz", "Europe/Berlin"] as const

async function withNightly(options?: Parameters<typeof terminal>[0]): Promise<Terminal> {
  const shell = terminal(options)
  const { code, err } = await shell.run("schedule", "create", "nightly", ...NIGHTLY, "-q")
  assert.equal(code, 0, err)
  return shell
}

const get = (shell: Terminal, key = "nightly") => shell.json<ScheduleView>("schedule", "get", key)

describe("schedule create", () => {
  test("makes the store and the schedule, says the row and what may not be meant", async () => {
    const shell = terminal()

    const { code, out, err } = await shell.run("schedule", "create", "nightly", ...NIGHTLY)

    assert.equal(code, 0)
    assert.match(
      out,
      /^KEY\tSTATUS\tTASK\tWHEN\tZONE\tNEXT\tLAST\nnightly\tactive\treport\t30 2 \* \* \*\tEurope\/Berlin\t2/,
    )
    assert.match(err, /Made a new store: .*belfry\.db\nwarning L04/)
  })

  test("takes every option, and times in the schedule's zone", async () => {
    const shell = terminal({ now: "2026-03-01T00:00:00Z" })
    const policies = [
      "--overlap",
      "queue",
      "--catch-up",
      "all",
      "--timeout",
      "10m",
      "--attempts",
      "5",
      "--retry-delay",
      "2s",
    ]
    const more = [
      "--priority",
      "high",
      "--jitter",
      "30s",
      "--max-runs",
      "9",
      "--tag",
      "a",
      "--tag",
      "b",
      "--description",
      "x",
    ]

    await shell.run(
      "s",
      "create",
      "n",
      ...NIGHTLY,
      ...policies,
      ...more,
      "--starts-at",
      "2027-03-28 02:30",
      "--payload",
      '{"a":1}',
    )
    const stored = await get(shell, "n")

    assert.deepEqual(
      [stored.overlap.policy, stored.catchUp.policy, stored.timeoutMs],
      ["queue", "all", 600_000],
    )
    assert.deepEqual([stored.retry?.attempts, stored.retry?.baseMs, stored.priority], [5, 2_000, 10])
    assert.deepEqual(
      [stored.jitterMs, stored.maxRuns, stored.tags, stored.description],
      [30_000, 9, ["a", "b"], "x"],
    )
    assert.deepEqual(stored.payload, { a: 1 })
    assert.equal(String(stored.startsAt), "2027-03-28T01:00:00.000Z")
  })

  test("a key that is taken is a conflict; a payload the task refuses is invalid", async () => {
    const shell = await withNightly()

    const taken = await shell.run("schedule", "create", "nightly", ...NIGHTLY)
    const refused = await shell.run(
      "schedule",
      "create",
      "x",
      "--task",
      "http",
      "--every",
      "5m",
      "--payload",
      '{"url":"ftp://x"}',
    )

    assert.equal(taken.code, 5)
    assert.match(taken.err, /BELFRY_SCHEDULE_EXISTS/)
    assert.equal(refused.code, 6, refused.err)
    assert.equal((await shell.json<object[]>("schedule", "list")).length, 1)
  })

  test("--dry-run changes nothing and makes no store", async () => {
    const shell = terminal()

    const { code, err } = await shell.run("schedule", "create", "nightly", ...NIGHTLY, "--dry-run")

    assert.equal(code, 0)
    assert.match(err, /Would create nightly\. Nothing was changed/)
    assert.equal((await shell.run("schedule", "list")).code, 7)
  })

  test("--paused never fires before it is resumed", async () => {
    const shell = terminal()

    await shell.run("schedule", "create", "nightly", ...NIGHTLY, "--paused")

    const { paused, enabled } = await get(shell)
    assert.equal(enabled, true)
    assert.equal(paused?.by, "ada@host")
  })
})

describe("schedule set", () => {
  test("changes what is named and nothing else", async () => {
    const shell = await withNightly()

    const { err } = await shell.run("schedule", "set", "nightly", "--timeout", "10m", "--description", "x")
    const unset = await shell.run("schedule", "set", "nightly", "--unset", "timeout", "--cron", "0 3 * * *")
    const stored = await get(shell)

    assert.match(err, /nightly: changed timeoutMs, description\./)
    assert.match(unset.err, /changed triggers, timeoutMs/)
    assert.deepEqual(
      [stored.when, stored.timezone, stored.timeoutMs, stored.description],
      ["0 3 * * *", "Europe/Berlin", null, "x"],
    )
  })

  test("a revision that is no longer the newest is a conflict", async () => {
    const shell = await withNightly()
    await shell.run("schedule", "set", "nightly", "--description", "x")

    const { code, err } = await shell.run(
      "schedule",
      "set",
      "nightly",
      "--description",
      "y",
      "--if-revision",
      "1",
    )

    assert.equal(code, 5, err)
    assert.equal((await get(shell)).description, "x")
  })

  test("nothing named is wrong usage; a dry run says the fields", async () => {
    const shell = await withNightly()

    assert.equal((await shell.run("schedule", "set", "nightly")).code, 2)
    assert.match(
      (await shell.run("schedule", "set", "nightly", "--timeout", "1m", "--dry-run")).err,
      /would change timeoutMs/,
    )
    assert.equal((await get(shell)).revision, 1)
  })
})

describe("steering", () => {
  test("pause and resume, with why, who and until when", async () => {
    const shell = await withNightly()

    await shell.run("schedule", "pause", "nightly", "--reason", "moving", "--until", "+2d")
    const paused = await get(shell)
    const { out } = await shell.run("schedule", "list", "--status", "paused", "-o", "name")
    await shell.run("schedule", "resume", "--all")

    assert.deepEqual([paused.paused?.reason, paused.paused?.by, out], ["moving", "ada@host", "nightly\n"])
    assert.equal((await get(shell)).paused, null)
  })

  test("skip, move and restore one occurrence, named in the schedule's zone", async () => {
    const shell = await withNightly()
    const next = () =>
      shell.json<{ scheduledFor: string; isSkipped: boolean; note: string | null }[]>(
        "schedule",
        "next",
        "nightly",
        "-n",
        "2",
      )

    const skipped = await shell.run("schedule", "skip", "nightly", "--reason", "holiday")
    const [first] = await next()
    await shell.run("schedule", "restore", "nightly")
    const [restored] = await next()
    const moved = await shell.run(
      "schedule",
      "move",
      "nightly",
      "--to",
      first!.scheduledFor.replace(":30:00", ":45:00"),
    )

    assert.equal(skipped.code, 0, skipped.err)
    assert.deepEqual([first!.isSkipped, first!.note], [true, "left out: holiday"])
    assert.equal(restored!.isSkipped, false)
    assert.equal(moved.code, 0, moved.err)
    assert.match((await next())[0]!.note!, /^moved from .* 02:30/)
  })

  test("an unknown key suggests the nearest one, and nothing is changed", async () => {
    const shell = await withNightly()

    const { code, err } = await shell.run("schedule", "pause", "nightly", "nigthly")

    assert.equal(code, 3)
    assert.match(err, /There is no schedule "nigthly"\.\n.*Did you mean nightly\?/)
    assert.equal((await get(shell)).paused, null)
  })

  test("delete asks on a terminal, and needs --yes elsewhere", async () => {
    const shell = await withNightly()
    const seen = await withNightly({ isTerminal: true })
    seen.answers = ["n", "y"]

    const unasked = await shell.run("schedule", "delete", "nightly")
    const declined = await seen.run("schedule", "delete", "nightly")
    const confirmed = await seen.run("schedule", "delete", "nightly")

    assert.deepEqual([unasked.code, declined.code, confirmed.code], [2, 2, 0])
    assert.match(unasked.err, /Add --yes/)
    assert.equal((await shell.run("schedule", "delete", "nightly", "--yes")).code, 0)
    assert.equal((await shell.run("schedule", "get", "nightly")).code, 3)
  })

  test("backfill plans first, and makes runs once it is told to", async () => {
    const shell = await withNightly()

    const plan = await shell.run(
      "schedule",
      "backfill",
      "nightly",
      "--from",
      "-3d",
      "--dry-run",
      "--no-headers",
    )
    const max = await shell.run("schedule", "backfill", "nightly", "--from", "-3d", "--max", "1", "--yes")
    const done = await shell.run("schedule", "backfill", "nightly", "--from", "-3d", "--yes", "--no-headers")
    const again = await shell.run("schedule", "backfill", "nightly", "--from", "-3d", "--yes")

    assert.equal(plan.out.trim().split("\n").length, 3, plan.err)
    assert.equal(max.code, 5)
    assert.match(done.out, /^nightly@.*~backfill\n/)
    assert.match(again.err, /0 occurrences to backfill\. 3 already have a run/)
  })
})

describe("files", () => {
  test("what is exported applies as no change, as YAML and as JSON", async () => {
    const shell = await withNightly()
    await shell.run(
      "s",
      "create",
      "ping",
      "--task",
      "http",
      "--every",
      "90s",
      "--payload",
      '{"url":"https://example.com"}',
      "--timeout",
      "1m",
    )
    for (const format of ["yaml", "json"]) {
      shell.input = (await shell.run("export", "--format", format)).out

      assert.equal((await shell.run("diff", "-f", "-")).code, 0, shell.input)
    }
    assert.match((await shell.run("export", "--task", "http")).out, /every: 90s\n {4}timeout: 1m\n/)
  })

  test("apply creates, changes and prunes by tag; diff exits 1 before and 0 after", async () => {
    const shell = await withNightly()
    await shell.run("s", "create", "old", "--task", "t", "--every", "1h", "--tag", "team")
    shell.write(
      "s.yaml",
      "schedules:\n  - {id: nightly, task: report, cron: 0 4 * * *}\n  - {id: new, task: t, every: 5m, tags: [team]}\n",
    )

    const diff = await shell.run("diff", "-f", "s.yaml", "--no-headers")
    const dry = await shell.run("apply", "-f", "s.yaml", "--dry-run")
    const values = await shell.run("apply", "-f", "s.yaml", "--dry-run", "--diff", "--no-headers")
    const applied = await shell.run("apply", "-f", "s.yaml", "--prune", "-l", "team", "--yes")

    assert.equal(diff.code, 1)
    assert.match(diff.out, /^nightly\tchange\ttriggers, timezone\nnew\tcreate\t\n$/)
    assert.match(dry.err, /1 created, 1 changed.*Nothing was changed/)
    assert.match(
      values.out,
      /^nightly\tchange\tcron: "30 2 \* \* \*" → "0 4 \* \* \*", timezone: "Europe\/Berlin" → null\n/,
    )
    assert.match(applied.err, /1 created, 1 changed, 0 the same, 1 deleted/)
    assert.equal((await shell.run("diff", "-f", "s.yaml")).code, 0)
    assert.equal((await get(shell)).timezone, "UTC")
  })

  test.each([
    ["schedules: [", 6, /can't be read/],
    ["schedules:\n  - task: t\n", 6, /has no id/],
    ["hello: there", 6, /holds no schedules/],
    ["- {id: a, task: t, every: 5m}\n- {id: a, task: t, every: 6m}", 6, /again in/],
    ["- {id: a, task: t, evry: 5m}", 6, /evry is not an option/],
    ["- {id: a, task: t, every: 5m}\n- {id: b, task: t, cron: 0 25 * * *}", 6, /Hour "25"/],
  ])("a bad file changes nothing: %s", async (text, code, what) => {
    const shell = await withNightly()
    shell.write("s.yaml", text)

    const answer = await shell.run("apply", "-f", "s.yaml")

    assert.equal(answer.code, code, answer.err)
    assert.match(answer.err, what)
    assert.equal((await shell.json<object[]>("schedule", "list")).length, 1)
  })
})

test("control characters in stored data never reach a terminal", async () => {
  const shell = terminal({ isTerminal: true })
  await shell.run(
    "s",
    "create",
    "x",
    "--task",
    "t\u001b[2J",
    "--every",
    "1h",
    "--description",
    "\u001b]0;owned\u0007",
    "--tag",
    "\u202eabc",
  )
  await shell.run("s", "pause", "x", "--reason", "\u001b[2Jbecause")

  for (const command of [
    ["s", "list"],
    ["s", "get", "x"],
    ["s", "get", "x", "--json"],
    ["s", "get", "x", "-o", "yaml"],
    ["export"],
    ["task", "list"],
    ["top", "--once"],
    ["s", "list", "-o", "wide"],
    ["s", "list", "-o", "csv"],
    ["s", "next", "x", "--ics"],
    ["s", "occurrences", "x"],
    ["export", "--format", "ts"],
    ["export", "--format", "crontab"],
    ["task", "run", "t\u001b[2J", "--dry-run"],
    ["config", "explain"],
    ["task", "list", "-o", "name"],
  ]) {
    const { out, err, code } = await shell.run(...command)

    assert.equal(code, 0, err)
    assert.doesNotMatch(out + err, /[\u001b\u0007\u202e]/, command.join(" "))
  }
})
