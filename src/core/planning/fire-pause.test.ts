import { assert, describe, test } from "vitest"
import {
  applied,
  aRunRef,
  aSchedule,
  at,
  clock,
  ledger,
  MADE_AT,
  progressAfter,
  withUnfinished,
} from "../../../test/support/records.ts"
import type { Pause, Schedule } from "../schedule/schedule.ts"
import { planFire, planSettle } from "./fire.ts"
import { occurrenceAfter } from "./occurrence.ts"
import { planResume } from "./pausing.ts"
import { NO_FACTS } from "./plan.ts"
import { replan } from "./steer.ts"

function aPause(fields: Partial<Pause> = {}): Pause {
  return { at: at("08:30"), until: null, reason: null, by: null, ...fields }
}

describe("paused schedules", () => {
  test("a schedule paused without an end has no next run and fires nothing", () => {
    const plan = planFire(aSchedule({}, { paused: aPause() }), NO_FACTS, at("12:00"))

    assert.deepEqual(plan.runs, [])
    assert.deepInclude(plan.progress, { nextRunAt: null, coveredUntil: MADE_AT })
  })

  test("a schedule paused until an instant is due at that instant and fires nothing before it", () => {
    const schedule = aSchedule({}, { paused: aPause({ until: at("12:30") }) })

    const plan = planFire(schedule, NO_FACTS, at("12:29:59.999"))

    assert.deepEqual(plan.runs, [])
    assert.equal(clock(progressAfter(plan).nextRunAt), "12:30")
    assert.deepEqual(progressAfter(plan).paused, schedule.paused)
  })

  test("when the pause ends, its occurrences become one record and the schedule goes on from then", () => {
    const paused = aPause({ until: at("12:30"), reason: "migration", by: "ada" })

    const plan = planFire(aSchedule({}, { paused }), NO_FACTS, at("12:30"))

    assert.deepEqual(ledger(plan.runs), ["09:00-12:00 (4) skipped paused"])
    assert.equal(plan.runs[0]?.message, "Paused by ada: migration")
    assert.deepInclude(plan.progress, { paused: null, nextRunAt: at("13:00"), firedCount: 0 })
  })

  test("an occurrence exactly at the end of the pause runs", () => {
    const schedule = aSchedule({}, { paused: aPause({ until: at("12:00") }) })

    const plan = planFire(schedule, NO_FACTS, at("12:00:00.020"))

    assert.deepEqual(ledger(plan.runs), ["09:00-11:00 (3) skipped paused", "12:00 schedule"])
  })

  test("if no process ran when the pause ended, the occurrences since then are caught up like any late ones", () => {
    const schedule = aSchedule({}, { paused: aPause({ until: at("10:30") }) })

    const plan = planFire(schedule, NO_FACTS, at("13:10"))

    assert.deepEqual(ledger(plan.runs), [
      "09:00-10:00 (2) skipped paused",
      "11:00-12:00 (2) skipped coalesced",
      "13:00 catchup",
    ])
    assert.deepInclude(plan.progress, { paused: null, nextRunAt: at("14:00"), firedCount: 1 })
  })

  test("a schedule with removeWhenFinished whose last occurrence falls into the pause is deleted", () => {
    const options = { at: at("09:00"), removeWhenFinished: true }

    const plan = planResume(aSchedule(options, { paused: aPause() }), NO_FACTS, at("10:00"))

    assert.isNull(plan.progress)
    assert.deepEqual(ledger(plan.runs), ["09:00 skipped paused"])
  })
})

describe("occurrences due before a pause began", () => {
  const late = () => aSchedule({}, { paused: aPause({ at: at("11:30") }) })

  test("occurrences due before the pause are caught up, and the pause goes on", () => {
    const plan = planFire(late(), NO_FACTS, at("11:31"))

    assert.deepEqual(ledger(plan.runs), ["09:00-10:00 (2) skipped coalesced", "11:00 catchup"])
    assert.deepInclude(plan.progress, {
      paused: late().paused,
      nextRunAt: null,
      coveredUntil: at("11:00"),
      firedCount: 1,
    })
  })

  test("occurrences due before the pause aren't recorded as paused when the pause ends", () => {
    const plan = planResume(late(), NO_FACTS, at("13:30"))

    assert.deepEqual(ledger(plan.runs), [
      "09:00-10:00 (2) skipped coalesced",
      "11:00 catchup",
      "12:00-13:00 (2) skipped paused",
    ])
    assert.deepInclude(plan.progress, { paused: null, nextRunAt: at("14:00") })
  })

  test("occurrences due before the pause are settled only once", () => {
    const settled = applied(late(), planFire(late(), NO_FACTS, at("11:31")))

    assert.deepEqual(planFire(settled, NO_FACTS, at("12:10")).runs, [])
    assert.deepEqual(ledger(planResume(settled, NO_FACTS, at("12:10")).runs), ["12:00 skipped paused"])
  })

  test("with overlap skip, a plan made after the pause has one run: that of the occurrence before the pause", () => {
    const paused = { ...late().paused!, until: at("12:30") }

    const plan = planFire({ ...late(), paused }, NO_FACTS, at("14:10"))

    // No store accepts a plan with two runs of one live key. Such a plan would be made and refused again and again.
    assert.deepEqual(ledger(plan.runs.filter(({ liveKey }) => liveKey !== null)), ["11:00 catchup"])
    assert.deepEqual(ledger(plan.runs.slice(-1)), ["14:00 skipped overlap"])
  })

  test("before an edit, occurrences due before the pause and occurrences dropped by the pause are settled", () => {
    const plan = planSettle(late(), NO_FACTS, at("12:30"))

    assert.deepEqual(ledger(plan!.runs), [
      "09:00-10:00 (2) skipped coalesced",
      "11:00 catchup",
      "12:00 skipped paused",
    ])
    assert.deepInclude(plan!.progress, { nextRunAt: null, coveredUntil: at("12:00") })
  })
})

describe("planResume", () => {
  test("a pause without occurrences leaves no record", () => {
    const plan = planResume(aSchedule({}, { paused: aPause() }), NO_FACTS, at("08:59"))

    assert.deepEqual(plan.runs, [])
    assert.deepInclude(plan.progress, { paused: null, nextRunAt: at("09:00") })
  })

  test('the message for a pause without an author or a reason is "Paused"', () => {
    const plan = planResume(aSchedule({}, { paused: aPause() }), NO_FACTS, at("09:30"))

    assert.deepEqual(ledger(plan.runs), ["09:00 skipped paused"])
    assert.equal(plan.runs[0]?.message, "Paused")
  })

  test("an occurrence moved to an earlier time in the pause is dropped by the pause", () => {
    const moved = { scheduledFor: at("11:00"), dueAt: at("10:10"), reason: null, by: null }
    const schedule = aSchedule({}, { paused: aPause(), overrides: [moved] })

    const plan = planResume(schedule, NO_FACTS, at("10:30"))

    assert.deepEqual(ledger(plan.runs), ["09:00-11:00 (3) skipped paused"])
    assert.deepInclude(plan.progress, { nextRunAt: at("12:00"), overrides: [] })
  })

  test("an occurrence that was settled ahead of its time stays settled", () => {
    const schedule = aSchedule({}, { coveredUntil: at("11:00"), paused: aPause() })

    assert.deepInclude(planResume(schedule, NO_FACTS, at("09:30")).progress, {
      coveredUntil: at("11:00"),
      nextRunAt: at("12:00"),
    })
  })

  test("a disabled schedule still has no next run after a resume", () => {
    const schedule = aSchedule({ enabled: false }, { paused: aPause() })

    assert.isNull(progressAfter(planResume(schedule, NO_FACTS, at("09:30"))).nextRunAt)
  })

  test("a schedule that reached maxRuns stays finished after a resume", () => {
    const schedule = aSchedule({ maxRuns: 1 }, { firedCount: 1, finishedAt: at("08:00"), paused: aPause() })

    const plan = planResume(schedule, NO_FACTS, at("11:30"))

    assert.deepEqual(plan.runs, [])
    assert.deepInclude(plan.progress, { nextRunAt: null, finishedAt: at("08:00") })
  })
})

describe("planSettle, before an edit", () => {
  /** The occurrence of 09:00 is due some minutes later, by jitter. */
  function delayedByJitter(): { schedule: Schedule; dueAt: number } {
    const schedule = aSchedule({ jitter: "50m" })
    return { schedule, dueAt: occurrenceAfter(schedule, MADE_AT)!.dueAt }
  }

  test("an occurrence that jitter still delays becomes a run that starts at its due time", () => {
    const { schedule, dueAt } = delayedByJitter()

    const plan = planSettle(schedule, NO_FACTS, at("09:00:01"))

    assert.deepEqual(ledger(plan!.runs), ["09:00 schedule"])
    assert.equal(plan?.runs[0]?.notBefore, dueAt)
    assert.isAbove(dueAt, at("09:00:01"))
  })

  test("after settling a delayed occurrence, the edit plans from now without it", () => {
    const { schedule } = delayedByJitter()
    const settled = applied(schedule, planSettle(schedule, NO_FACTS, at("09:00:01"))!)

    const edited = replan({ ...settled, jitterMs: 0 }, at("09:00:01"))

    assert.equal(clock(edited.nextRunAt), "10:00")
  })

  test("an occurrence moved to a later time becomes a run for that time", () => {
    const moved = { scheduledFor: at("09:00"), dueAt: at("09:45"), reason: null, by: null }

    const plan = planSettle(aSchedule({}, { overrides: [moved] }), NO_FACTS, at("09:10"))

    assert.equal(clock(plan!.runs[0]!.notBefore), "09:45")
  })

  test("the overlap policy applies as in firing", () => {
    const plan = planSettle(aSchedule(), withUnfinished(aRunRef()), at("09:10"))

    assert.deepEqual(ledger(plan!.runs), ["09:00 skipped overlap"])
  })

  test("without a passed occurrence there is nothing to settle", () => {
    assert.isNull(planSettle(aSchedule(), NO_FACTS, at("08:59")))
  })

  test("occurrences that a pause has dropped so far are recorded, and the pause goes on", () => {
    const schedule = aSchedule({}, { paused: aPause(), nextRunAt: null })

    const plan = planSettle(schedule, NO_FACTS, at("11:30"))

    assert.deepEqual(ledger(plan!.runs), ["09:00-11:00 (3) skipped paused"])
    assert.deepInclude(plan!.progress, {
      paused: schedule.paused,
      nextRunAt: null,
      coveredUntil: at("11:00"),
    })
  })

  test.each([
    ["disabled", aSchedule({ enabled: false })],
    ["known to be unreadable", aSchedule({}, { lastError: "bad cron" })],
    ["never planned", aSchedule({}, { coveredUntil: null })],
    ["at its maxRuns", aSchedule({ maxRuns: 1 }, { firedCount: 1 })],
  ])("a schedule that is %s owes nothing", (_, schedule) => {
    assert.isNull(planSettle(schedule, NO_FACTS, at("12:00")))
  })

  test("an unreadable schedule gets lastError instead of refusing the edit that repairs it", () => {
    const broken = { ...aSchedule(), timezone: "Mars/Olympus" }

    assert.match(progressAfter(planSettle(broken, NO_FACTS, at("12:00"))).lastError!, /Mars/)
  })
})
