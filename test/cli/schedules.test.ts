import assert from "node:assert/strict"
import { join } from "node:path"
import { describe, test } from "vitest"
import { sqlite } from "../../src/sqlite.ts"
import { getSchedule, NIGHTLY, withNightly } from "./nightly.ts"
import { terminal } from "./support.ts"

describe("schedule create", () => {
  test("creates the store and the schedule, and prints the row and the lints", async () => {
    const shell = terminal()

    const { code, out, err } = await shell.run("schedule", "create", "nightly", ...NIGHTLY)

    assert.equal(code, 0)
    assert.match(
      out,
      /^ID\tSTATE\tTASK\tWHEN\tZONE\tNEXT\tLAST\nnightly\tnew\treport\t30 2 \* \* \*\tEurope\/Berlin\t2/,
    )
    assert.match(err, /Created a new store: .*belfry\.db\nwarning L04/)
  })

  test("accepts every option, and reads times in the schedule's zone", async () => {
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
    const stored = await getSchedule(shell, "n")

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

  test("an id that is in use is a conflict; a payload that the task refuses is invalid", async () => {
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

  test("--dry-run changes nothing and creates no store", async () => {
    const shell = terminal()

    const { code, err } = await shell.run("schedule", "create", "nightly", ...NIGHTLY, "--dry-run")

    assert.equal(code, 0)
    assert.match(err, /Would create nightly\. Nothing was changed/)
    assert.equal((await shell.run("schedule", "list")).code, 7)
  })

  test("--paused creates the schedule paused", async () => {
    const shell = terminal()

    await shell.run("schedule", "create", "nightly", ...NIGHTLY, "--paused")

    const { paused, enabled } = await getSchedule(shell)
    assert.equal(enabled, true)
    assert.equal(paused?.by, "ada@host")
  })
})

describe("schedule set", () => {
  test("changes only the given options", async () => {
    const shell = await withNightly()

    const { err } = await shell.run("schedule", "set", "nightly", "--timeout", "10m", "--description", "x")
    const typo = await shell.run("schedule", "set", "nightly", "--unset", "timezon")
    const unset = await shell.run("schedule", "set", "nightly", "--unset", "timeout", "--cron", "0 3 * * *")
    const stored = await getSchedule(shell)

    assert.match(err, /nightly: changed timeout: not set → "10m", description: not set → "x"\./)
    assert.equal(typo.code, 6)
    assert.match(typo.err, /timezon is not an option\. Did you mean timezone\?/)
    assert.match(unset.err, /changed cron: "30 2 \* \* \*" → "0 3 \* \* \*", timeout: "10m" → not set\./)
    assert.deepEqual(
      [stored.when, stored.timezone, stored.timeoutMs, stored.description],
      ["0 3 * * *", "Europe/Berlin", null, "x"],
    )
  })

  test("an old revision is a conflict", async () => {
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
    assert.doesNotMatch(err, /nightly: changed/)
    assert.match(err, /belfry schedule get nightly/)
    assert.equal((await getSchedule(shell)).description, "x")
  })

  test("no option is invalid usage; a dry run prints the changes", async () => {
    const shell = await withNightly()

    assert.equal((await shell.run("schedule", "set", "nightly")).code, 2)
    assert.match(
      (await shell.run("schedule", "set", "nightly", "--timeout", "1m", "--dry-run")).err,
      /would change timeout: not set → "1m"/,
    )
    assert.equal((await getSchedule(shell)).revision, 1)
  })

  test("a change of a schedule declared in code prints that it overrides the code", async () => {
    const shell = terminal()
    const declared = [
      { id: "nightly", task: "http", cron: "0 2 * * *", payload: { url: "https://example.com" } },
    ]
    shell.write("belfry.config.json", JSON.stringify({ owner: "shop", schedules: declared }))
    const ended = shell.run("start")
    await shell.shows(/is running/)
    shell.signal("SIGTERM")
    await ended

    const { code, err } = await shell.run("schedule", "set", "nightly", "--timeout", "10m")

    assert.equal(code, 0, err)
    assert.match(err, /nightly is declared in code \(owner shop\)\. The change overrides the code/)
  })
})

test("control characters in stored data are never printed to a terminal", async () => {
  const shell = terminal({ isTerminal: true })
  await shell.run(
    "s",
    "create",
    "x",
    "--task",
    "t",
    "--every",
    "1h",
    "--description",
    "\u001b]0;owned\u0007",
    "--tag",
    "\u202eabc",
  )
  await shell.run("s", "pause", "x", "--reason", "\u001b[2Jbecause")

  const commands = [
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
    ["task", "run", "t", "--dry-run"],
    ["config", "explain"],
    ["task", "list", "-o", "name"],
  ]
  for (const command of commands) {
    const { out, err, code } = await shell.run(...command)

    assert.equal(code, 0, err)
    assert.doesNotMatch(out + err, /[\u001b\u0007\u202e]/, command.join(" "))
  }

  const refused = await shell.run("task", "run", "t\u001b[2J", "--dry-run")
  assert.equal(refused.code, 6)
  assert.doesNotMatch(refused.out + refused.err, /\u001b\[2J/)

  await renameTask(shell, "x", "t\u001b[2J")
  for (const command of commands) {
    const { out, err } = await shell.run(...command)

    assert.doesNotMatch(out + err, /[\u001b\u0007\u202e]/, command.join(" "))
  }
})

/** Writes the name to the store directly, because the command line refuses it. */
async function renameTask({ folder }: { folder: string }, id: string, task: string): Promise<void> {
  const store = sqlite(join(folder, "belfry.db"))
  const [schedule] = await store.findSchedules({ ids: [id] }, { orderBy: "id", after: null, limit: 1 })
  await store.putSchedule({ ...schedule!, task }, schedule!.version)
  await store.close()
}

test("schedule list filters by text, state and next run; schedule set can change the task", async () => {
  const shell = terminal()
  await shell.run(
    "s",
    "create",
    "nightly",
    "--task",
    "report",
    "--cron",
    "30 2 * * *",
    "--description",
    "The ledger",
  )
  await shell.run("s", "create", "hourly", "--task", "sweep", "--every", "1h", "--paused")
  await shell.run("s", "create", "soon", "--task", "sweep", "--every", "1m")
  const found = async (...argv: readonly string[]) =>
    (await shell.run("s", "list", "-o", "name", ...argv)).out
      .trim()
      .split("\n")
      .filter((id) => id !== "")

  assert.deepEqual(await found("--search", "LEDGER"), ["nightly"])
  assert.deepEqual(await found("--status", "paused"), ["hourly"])
  assert.deepEqual(await found("--status", "active"), ["nightly", "soon"])
  assert.deepEqual(await found("--next", "5m"), ["soon"])
  assert.deepEqual((await found("--sort", "next"))[0], "soon")
  assert.deepEqual(await found("--status", "failing"), [])

  const { code, err } = await shell.run("s", "set", "soon", "--task", "report")
  assert.equal(code, 0, err)
  assert.match(err, /task: "sweep" → "report"/)
  assert.deepEqual(await found("--task", "report"), ["nightly", "soon"])
})
