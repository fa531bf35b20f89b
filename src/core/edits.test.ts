import { assert, describe, test } from "vitest"
import { edit, edited, planned } from "../../test/support/edited.ts"
import {
  aDefinition,
  aRunRef,
  aSchedule,
  at,
  clock,
  ledger,
  progressAfter,
  withUnfinished,
} from "../../test/support/records.ts"
import { planFire, planSettle } from "./fire.ts"
import type { ScheduleOptions } from "./options.ts"
import { NO_FACTS } from "./plan.ts"
import type { Schedule } from "./schedule.ts"

/** What was written without our checks is planned as if it had been asked for when it was written. */

const ALL: ScheduleOptions = { catchUp: "all", overlap: "allow" }

describe("another timetable", () => {
  test("what was owed by the old one is made up for, what came since by the new one", () => {
    const schedule = edited(aSchedule({ ...ALL, cron: "30 * * * *" }), edit("11:10", ALL))

    const { runs, after } = planned(schedule)

    assert.deepEqual(runs, [
      ...["09:00 catchup", "10:00 catchup", "11:00 catchup"],
      ...["11:30 catchup", "12:30 catchup", "13:30 catchup", "14:30 catchup"],
    ])
    assert.equal(clock(after.nextRunAt), "15:30")
  })

  test("of two edits, each timetable counts for its own time", () => {
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

  test("one that can't be read stops the schedule, and what was owed before is still made up for", () => {
    const unreadable = { ...aSchedule(ALL), timezone: "Mars/Olympus" }

    const { runs, after } = planned(edited(unreadable, edit("10:10", ALL)))

    assert.deepEqual(runs, ["09:00 catchup", "10:00 catchup"])
    assert.match(after.lastError!, /Mars/)
    assert.equal(after.nextRunAt, null)
    assert.equal(clock(after.coveredUntil), "10:10")
  })

  test.each([
    ["never planned", null, "10:10"],
    ["planned beyond that instant", at("10:20"), "10:20"],
  ])("one that can't be read, of a schedule %s, is settled until then", (_, coveredUntil, settled) => {
    const unreadable = { ...aSchedule(ALL, { coveredUntil }), timezone: "Mars/Olympus" }

    assert.equal(clock(planned(edited(unreadable, edit("10:10", ALL))).after.coveredUntil), settled)
  })

  test("one that mends the schedule goes on from when it was written", () => {
    const broken = { ...aDefinition(), timezone: "Mars/Olympus", paused: null }
    const stopped = aSchedule({}, { nextRunAt: null, lastError: "Mars" })

    const { runs, after } = planned(edited(stopped, edit("12:10", {}, { was: broken })), at("12:20"))

    assert.deepEqual(runs, [])
    assert.deepEqual([clock(after.nextRunAt), after.lastError], ["13:00", null])
  })
})

describe("what is owed and finds its queue full", () => {
  const QUEUED: ScheduleOptions = { catchUp: "all", overlap: { policy: "queue", limit: 1 } }
  const full = withUnfinished(
    aRunRef({ id: "report@2026-03-10T08:00:00Z" }),
    aRunRef({ id: "report@2026-03-10T08:30:00Z", state: "pending", attempt: 0 }),
  )

  test("stays owed if the edit leaves the times alone", () => {
    const schedule = edited(aSchedule({ ...QUEUED, priority: 3 }), edit("11:10", QUEUED))

    const { runs, progress } = planFire(schedule, full, at("11:30"))

    assert.deepEqual(runs, [])
    assert.equal(progress!.coveredUntil, schedule.coveredUntil)
  })

  test("is nothing to settle for an edit that leaves the times alone", () => {
    assert.isNull(planSettle(aSchedule(QUEUED), full, at("11:30"), { canWait: true }))
  })

  test("is made up for as far as there is room", () => {
    const schedule = edited(aSchedule({ ...QUEUED, priority: 3 }), edit("11:10", QUEUED))

    const { runs, progress } = planFire(schedule, NO_FACTS, at("11:30"))

    assert.deepEqual(ledger(runs), ["09:00 catchup", "10:00 catchup"])
    assert.equal(clock(progress!.coveredUntil), "10:00")
  })

  test("is recorded if the edit changes the times: nobody looks at the old ones again", () => {
    const schedule = edited(aSchedule({ ...QUEUED, cron: "30 * * * *" }), edit("11:10", QUEUED))

    assert.deepEqual(ledger(planFire(schedule, full, at("11:30")).runs), [
      "09:00 skipped capacity",
      "10:00 skipped capacity",
      "11:00 skipped capacity",
    ])
  })
})

test("an edit that changes nothing settles nothing: what is late is still made up for by one run", () => {
  const { runs } = planned(edited(aSchedule(), edit("11:10", {})), at("12:20"))

  assert.deepEqual(runs, ["09:00-11:00 (3) skipped coalesced", "12:00 catchup"])
})

test("a schedule to which nothing was written is planned as usual", () => {
  const schedule = { ...aSchedule(), edits: [] }

  assert.deepEqual(ledger(planFire(schedule, NO_FACTS, at("09:00")).runs), ["09:00 schedule"])
})

test("two definitions that each owe a run under overlap skip make one", () => {
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

describe("a pause", () => {
  const PAUSED = { at: at("11:10"), until: null, reason: "move", by: "ada" }

  test("what was owed before it is made up for", () => {
    const schedule = edited(aSchedule(ALL, { paused: PAUSED }), edit("11:10", ALL))

    const { runs, after } = planned(schedule)

    assert.deepEqual(runs, ["09:00 catchup", "10:00 catchup", "11:00 catchup"])
    assert.deepEqual([after.paused?.at, after.nextRunAt], [PAUSED.at, null])
  })

  test("and its end before anybody looked: an interval in between, then on", () => {
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

  test("that was written with an end in the past is over", () => {
    const paused = { ...PAUSED, until: at("10:00") }
    const schedule = edited(aSchedule(ALL, { paused }), edit("11:10", ALL))

    const { after } = planned(schedule, at("11:20"))

    assert.deepEqual([after.paused, clock(after.nextRunAt)], [null, "12:00"])
  })
})

test("an operator's step, or an edit at the door, waits until what was written is planned", () => {
  const schedule = edited(aSchedule(), edit("08:10", { priority: 3 }))

  const plan = planSettle(schedule, NO_FACTS, at("08:20"))

  assert.isNotNull(progressAfter(plan))
  assert.isNull(planSettle(aSchedule(), withUnfinished(), at("08:20")))
})

describe("an edit that says nothing of times leaves when the schedule is due", () => {
  const edits = [edit("08:10", { priority: 7 })] as const
  const nextAfter = (schedule: Schedule) =>
    planFire(edited(schedule, ...edits), NO_FACTS, at("08:20")).progress?.nextRunAt

  test("as its timetable has it", () => {
    assert.equal(clock(nextAfter(aSchedule())!), "09:00")
  })

  test("nowhere, where it has finished or can't be planned", () => {
    const finished = aSchedule({ endsAt: at("08:05") }, { finishedAt: at("08:05") })
    const ended = [edit("08:10", { endsAt: at("08:05"), priority: 7 })] as const

    assert.isNull(planFire(edited(finished, ...ended), NO_FACTS, at("08:20")).progress?.nextRunAt)
    assert.equal(clock(nextAfter(aSchedule({}, { lastError: "why" }))!), "08:10")
  })

  test("at once, where it was never planned, or its old definition couldn't be: the next plan tells", () => {
    const unplannable = { ...edits[0], was: { ...edits[0].was, timezone: "Mars/Olympus" } }

    assert.equal(clock(nextAfter(aSchedule({}, { coveredUntil: null }))!), "08:10")
    assert.equal(
      clock(planFire(edited(aSchedule(), unplannable), NO_FACTS, at("08:20")).progress!.nextRunAt!),
      "09:00",
    )
  })
})
