import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { FAR_AWAY, getSchedule, withNightly } from "./nightly.ts"

describe("steering", () => {
  test("pause stores the reason, the author and the end; resume ends the pause", async () => {
    const shell = await withNightly()

    await shell.run("schedule", "pause", "nightly", "--reason", "moving", "--until", "+2d")
    const paused = await getSchedule(shell)
    const { out } = await shell.run("schedule", "list", "--status", "paused", "-o", "name")
    await shell.run("schedule", "resume", "--all", "--yes")

    assert.deepEqual([paused.paused?.reason, paused.paused?.by, out], ["moving", "ada@host", "nightly\n"])
    assert.equal((await getSchedule(shell)).paused, null)
  })

  test("the list shows the next occurrence after the pause, not the end of the pause", async () => {
    const shell = await withNightly({}, ...FAR_AWAY)

    await shell.run("schedule", "pause", "nightly", "--until", "2090-07-01 12:00")
    const { out } = await shell.run("schedule", "list", "--no-headers")
    const table = await shell.run("schedule", "list", "-o", "wide")

    const [next] = await shell.json<{ dueAt: string }[]>("schedule", "next", "nightly", "-n", "1")
    assert.equal((await getSchedule(shell)).nextRunAt as unknown, next!.dueAt)
    assert.ok(out.includes(next!.dueAt.replace(".000Z", "Z")), out)
    assert.match(table.out, /after the pause .*02:30/)
  })

  test("a hint with another command contains the id of the schedule", async () => {
    const shell = await withNightly({ isTerminal: true }, ...FAR_AWAY)

    const none = await shell.run("schedule", "occurrences", "nightly")
    const restore = await shell.run("schedule", "restore", "nightly")
    const skip = await shell.run("schedule", "skip", "nightly", "2090-06-02 12:34")

    for (const { err } of [none, restore, skip]) assert.match(err, /belfry schedule next nightly$/m)
  })

  test("resume --all shows only the resumed schedules", async () => {
    const shell = await withNightly()
    await shell.run("schedule", "create", "other", "--task", "t", "--every", "1h")
    await shell.run("schedule", "pause", "nightly")

    const resumed = await shell.run("schedule", "resume", "--all", "--yes", "-o", "name")
    const again = await shell.run("schedule", "resume", "--all", "-o", "name")

    assert.deepEqual([resumed.code, resumed.out, again.code, again.out], [0, "nightly\n", 0, ""])
  })

  test("pause and resume with --all ask on a terminal, and need --yes without one", async () => {
    const shell = await withNightly()
    const seen = await withNightly({ isTerminal: true })
    seen.answers = ["n", "y", "n", "y"]

    for (const [verb, isPausedAfter] of [
      ["pause", true],
      ["resume", false],
    ] as const) {
      const unasked = await shell.run("schedule", verb, "--all")
      const declined = await seen.run("schedule", verb, "--all")
      const untouched = (await getSchedule(seen)).paused !== null
      const confirmed = await seen.run("schedule", verb, "--all")
      const given = await shell.run("schedule", verb, "--all", "--yes")

      assert.deepEqual([unasked.code, declined.code, confirmed.code, given.code], [2, 2, 0, 0], unasked.err)
      assert.match(unasked.err, /Add --yes/)
      assert.equal(untouched, !isPausedAfter)
      for (const each of [shell, seen]) assert.equal((await getSchedule(each)).paused !== null, isPausedAfter)
    }
    assert.deepEqual(seen.asked, [
      "Pause nightly? [y/N] ",
      "Pause nightly? [y/N] ",
      "Resume nightly? [y/N] ",
      "Resume nightly? [y/N] ",
    ])
  })

  test("pause --all leaves paused schedules as they are; pause by id replaces the pause", async () => {
    const shell = await withNightly()
    await shell.run("schedule", "create", "other", "--task", "t", "--every", "1h")
    await shell.run("schedule", "pause", "nightly", "--reason", "moving")

    const dry = await shell.run("schedule", "pause", "--all", "--dry-run")
    const all = await shell.run("schedule", "pause", "--all", "--yes", "--reason", "incident", "-o", "name")
    const kept = (await getSchedule(shell)).paused?.reason
    const dryAgain = await shell.run("schedule", "pause", "--all", "--dry-run")
    const again = await shell.run("schedule", "pause", "--all")
    const dryById = await shell.run("schedule", "pause", "nightly", "other", "--dry-run")
    await shell.run("schedule", "pause", "nightly", "--reason", "replaced")

    assert.match(dry.err, /Would pause other\. Nothing was changed/)
    assert.deepEqual([all.out, kept, again.code], ["other\n", "moving", 0])
    assert.match(dryAgain.err, /All matching schedules are paused already\. Nothing was changed/)
    assert.match(dryById.err, /^Would replace the pause of 2 schedules\. Nothing was changed/)
    assert.equal((await getSchedule(shell)).paused?.reason, "replaced")
  })

  test("skip, move and restore change one occurrence, given in the schedule's zone", async () => {
    const shell = await withNightly({}, ...FAR_AWAY)
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
    assert.deepEqual([first!.isSkipped, first!.note], [true, "skipped: holiday"])
    assert.equal(restored!.isSkipped, false)
    assert.equal(moved.code, 0, moved.err)
    assert.match((await next())[0]!.note!, /^moved from .* 02:30/)
  })

  test("an unknown id suggests the most similar one, and nothing is changed", async () => {
    const shell = await withNightly()

    const { code, err } = await shell.run("schedule", "pause", "nightly", "nigthly")

    assert.equal(code, 3)
    assert.match(err, /There is no schedule "nigthly"\.\n.*Did you mean nightly\?/)
    assert.equal((await getSchedule(shell)).paused, null)
  })

  test("Ctrl-C at a question ends the program without a message, and nothing is changed", async () => {
    const shell = await withNightly({ isTerminal: true })
    shell.answers = ["\u0003"]

    const { code, out, err } = await shell.run("schedule", "delete", "nightly")

    assert.deepEqual([code, out, err], [130, "", ""])
    assert.equal((await shell.run("schedule", "get", "nightly")).code, 0)
  })

  test("delete asks on a terminal, and needs --yes without one", async () => {
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

  test("backfill --dry-run prints the plan, and --yes creates the runs", async () => {
    const shell = await withNightly()
    const backfill = (...rest: readonly string[]) => shell.run("schedule", "backfill", "nightly", ...rest)
    const days = ["--from", "2026-01-05", "--to", "2026-01-08", "--no-headers"]

    const plan = await backfill(...days, "--dry-run")
    const max = await backfill("--from", "-3d", "--max", "1", "--yes")
    const done = await backfill(...days, "--yes")
    const again = await backfill(...days, "--yes")

    assert.equal(plan.out.trim().split("\n").length, 3, plan.err)
    assert.equal(max.code, 5)
    assert.match(done.out, /^nightly@.*~backfill\n/)
    assert.match(again.err, /0 occurrences to backfill\. 3 already have a run/)
  })
})
