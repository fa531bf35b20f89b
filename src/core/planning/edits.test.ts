import { assert, describe, test } from "vitest"
import { edit, edited, planned } from "../../../test/support/edited.ts"
import {
  aDefinition,
  aRunRef,
  aSchedule,
  at,
  clock,
  ledger,
  progressAfter,
  withUnfinished,
} from "../../../test/support/records.ts"
import type { ScheduleOptions } from "../options/options.ts"
import type { Schedule } from "../schedule/schedule.ts"
import { planFire, planSettle } from "./fire.ts"
import { NO_FACTS } from "./plan.ts"

// These edits were made by SQL directly. Each is planned like a request made at the time of the edit.

const ALL: ScheduleOptions = { catchUp: "all", overlap: "allow" }

describe("an edit of the timetable", () => {
  test("occurrences before the edit follow the old timetable, and occurrences after it the new one", () => {
    const schedule = edited(aSchedule({ ...ALL, cron: "30 * * * *" }), edit("11:10", ALL))

    const { runs, after } = planned(schedule)

    assert.deepEqual(runs, [
      ...["09:00 catchup", "10:00 catchup", "11:00 catchup"],
      ...["11:30 catchup", "12:30 catchup", "13:30 catchup", "14:30 catchup"],
    ])
    assert.equal(clock(after.nextRunAt), "15:30")
  })

  test("after two edits each timetable applies to its own period", () => {
    const schedule = edited(
      aSchedule({ ...ALL, cron: "45 * * * *" }),
      edit("10:10", ALL),
      edit("12:10", { ...ALL, cron: "30 * * * *" }),
    )

    assert.deepEqual(planned(schedule, at("13:50")).runs, [
      ...["09:00 catchup", "10:00 catchup"],
      ...["10:30 catchup", "11:30 catchup"],
      ...["12:45 catchup", "13:45 catchup"],
    ])
  })

  test("an unreadable timetable stops the schedule, and occurrences owed before the edit still become runs", () => {
    const unreadable = { ...aSchedule(ALL), timezone: "Mars/Olympus" }

    const { runs, after } = planned(edited(unreadable, edit("10:10", ALL)))

    assert.deepEqual(runs, ["09:00 catchup", "10:00 catchup"])
    assert.match(after.lastError!, /Mars/)
    assert.equal(after.nextRunAt, null)
    assert.equal(clock(after.coveredUntil), "10:10")
  })

  test.each([
    ["never planned", null, "10:10"],
    ["planned beyond the edit", at("10:20"), "10:20"],
  ])(
    "an unreadable timetable of a schedule %s leaves coveredUntil no earlier than the edit",
    (_, coveredUntil, settled) => {
      const unreadable = { ...aSchedule(ALL, { coveredUntil }), timezone: "Mars/Olympus" }

      assert.equal(clock(planned(edited(unreadable, edit("10:10", ALL))).after.coveredUntil), settled)
    },
  )

  test("an edit that repairs the schedule plans from the time of the edit", () => {
    const broken = { ...aDefinition(), timezone: "Mars/Olympus", paused: null }
    const stopped = aSchedule({}, { nextRunAt: null, lastError: "Mars" })

    const { runs, after } = planned(edited(stopped, edit("12:10", {}, { was: broken })), at("12:20"))

    assert.deepEqual(runs, [])
    assert.deepEqual([clock(after.nextRunAt), after.lastError], ["13:00", null])
  })
})

describe("owed occurrences and a full queue", () => {
  const QUEUED: ScheduleOptions = { catchUp: "all", overlap: { policy: "queue", limit: 1 } }
  const full = withUnfinished(
    aRunRef({ id: "report@2026-03-10T08:00:00Z" }),
    aRunRef({ id: "report@2026-03-10T08:30:00Z", state: "pending", attempt: 0 }),
  )

  test("owed occurrences stay owed if the edit doesn't change the timetable", () => {
    const schedule = edited(aSchedule({ ...QUEUED, priority: 3 }), edit("11:10", QUEUED))

    const { runs, progress } = planFire(schedule, full, at("11:30"))

    assert.deepEqual(runs, [])
    assert.equal(progress!.coveredUntil, schedule.coveredUntil)
  })

  test("an edit that doesn't change the timetable has nothing to settle", () => {
    assert.isNull(planSettle(aSchedule(QUEUED), full, at("11:30"), { canWait: true }))
  })

  test("owed occurrences become runs as far as the queue has room", () => {
    const schedule = edited(aSchedule({ ...QUEUED, priority: 3 }), edit("11:10", QUEUED))

    const { runs, progress } = planFire(schedule, NO_FACTS, at("11:30"))

    assert.deepEqual(ledger(runs), ["09:00 catchup", "10:00 catchup"])
    assert.equal(clock(progress!.coveredUntil), "10:00")
  })

  test("owed occurrences are recorded as skipped if the edit changes the timetable", () => {
    const schedule = edited(aSchedule({ ...QUEUED, cron: "30 * * * *" }), edit("11:10", QUEUED))

    assert.deepEqual(ledger(planFire(schedule, full, at("11:30")).runs), [
      "09:00 skipped capacity",
      "10:00 skipped capacity",
      "11:00 skipped capacity",
    ])
  })
})

test("an edit that changes nothing settles nothing, and late occurrences are still caught up by one run", () => {
  const { runs } = planned(edited(aSchedule(), edit("11:10", {})), at("12:20"))

  assert.deepEqual(runs, ["09:00-11:00 (3) skipped coalesced", "12:00 catchup"])
})

test("a schedule without edits is planned as usual", () => {
  const schedule = { ...aSchedule(), edits: [] }

  assert.deepEqual(ledger(planFire(schedule, NO_FACTS, at("09:00")).runs), ["09:00 schedule"])
})

test("two definitions that each owe a run with overlap skip make one run", () => {
  const schedule = edited(
    aSchedule({ cron: "45 * * * *" }),
    edit("10:10", {}),
    edit("12:10", { cron: "30 * * * *" }),
  )

  const plan = planFire(schedule, NO_FACTS, at("12:20"))

  assert.deepEqual(ledger(plan.runs), [
    "09:00 skipped coalesced",
    "10:00 catchup",
    "10:30 skipped coalesced",
    "11:30 skipped overlap",
  ])
})

describe("an edit that pauses", () => {
  const PAUSED = { at: at("11:10"), until: null, reason: "move", by: "ada" }

  test("occurrences owed before the pause become runs", () => {
    const schedule = edited(aSchedule(ALL, { paused: PAUSED }), edit("11:10", ALL))

    const { runs, after } = planned(schedule)

    assert.deepEqual(runs, ["09:00 catchup", "10:00 catchup", "11:00 catchup"])
    assert.deepEqual([after.paused?.at, after.nextRunAt], [PAUSED.at, null])
  })

  test("a pause that began and ended before the plan is recorded as one range", () => {
    const paused = { ...aDefinition(ALL), paused: PAUSED }
    const schedule = edited(aSchedule(ALL), edit("11:10", ALL), edit("13:10", ALL, { was: paused }))

    const { runs, after } = planned(schedule, at("14:20"))

    assert.deepEqual(runs, [
      ...["09:00 catchup", "10:00 catchup", "11:00 catchup"],
      "12:00-13:00 (2) skipped paused",
      "14:00 catchup",
    ])
    assert.equal(after.paused, null)
  })

  test("a pause written with an end in the past is over", () => {
    const paused = { ...PAUSED, until: at("10:00") }
    const schedule = edited(aSchedule(ALL, { paused }), edit("11:10", ALL))

    const { after } = planned(schedule, at("11:20"))

    assert.deepEqual([after.paused, clock(after.nextRunAt)], [null, "12:00"])
  })
})

test("written edits are settled before an operator's change or another edit", () => {
  const schedule = edited(aSchedule(), edit("08:10", { priority: 3 }))

  const plan = planSettle(schedule, NO_FACTS, at("08:20"))

  assert.isNotNull(progressAfter(plan))
  assert.isNull(planSettle(aSchedule(), withUnfinished(), at("08:20")))
})

describe("an edit that doesn't change the timetable", () => {
  const edits = [edit("08:10", { priority: 7 })] as const
  const nextAfter = (schedule: Schedule) =>
    planFire(edited(schedule, ...edits), NO_FACTS, at("08:20")).progress?.nextRunAt

  test("the next run stays the next occurrence of the timetable", () => {
    assert.equal(clock(nextAfter(aSchedule())!), "09:00")
  })

  test("a finished schedule has no next run, and a schedule with lastError is due at the edit", () => {
    const finished = aSchedule({ endsAt: at("08:05") }, { finishedAt: at("08:05") })
    const ended = [edit("08:10", { endsAt: at("08:05"), priority: 7 })] as const

    assert.isNull(planFire(edited(finished, ...ended), NO_FACTS, at("08:20")).progress?.nextRunAt)
    assert.equal(clock(nextAfter(aSchedule({}, { lastError: "why" }))!), "08:10")
  })

  test("a schedule that was never planned is due at the edit, and one that was unreadable before is planned anew", () => {
    const unplannable = { ...edits[0], was: { ...edits[0].was, timezone: "Mars/Olympus" } }

    assert.equal(clock(nextAfter(aSchedule({}, { coveredUntil: null }))!), "08:10")
    assert.equal(
      clock(planFire(edited(aSchedule(), unplannable), NO_FACTS, at("08:20")).progress!.nextRunAt!),
      "09:00",
    )
  })
})
