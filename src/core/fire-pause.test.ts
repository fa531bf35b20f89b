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
} from "../../test/support/records.ts"
import { planFire, planSettle } from "./fire.ts"
import { occurrenceAfter } from "./occurrence.ts"
import { planResume } from "./pausing.ts"
import { NO_FACTS } from "./plan.ts"
import type { Pause, Schedule } from "./schedule.ts"
import { planAnew } from "./steer.ts"

function aPause(fields: Partial<Pause> = {}): Pause {
  return { at: at("08:30"), until: null, reason: null, by: null, ...fields }
}

describe("a paused schedule", () => {
  test("without an end it is due never and fires nothing", () => {
    const plan = planFire(aSchedule({}, { paused: aPause() }), NO_FACTS, at("12:00"))

    assert.deepEqual(plan.runs, [])
    assert.deepInclude(plan.progress, { nextRunAt: null, coveredUntil: MADE_AT })
  })

  test("with an end it is due then, and before that fires nothing", () => {
    const schedule = aSchedule({}, { paused: aPause({ until: at("12:30") }) })

    const plan = planFire(schedule, NO_FACTS, at("12:29:59.999"))

    assert.deepEqual(plan.runs, [])
    assert.equal(clock(progressAfter(plan).nextRunAt), "12:30")
    assert.deepEqual(progressAfter(plan).paused, schedule.paused)
  })

  test("at its end what fell into it is one record, and it goes on from there", () => {
    const paused = aPause({ until: at("12:30"), reason: "migration", by: "ada" })

    const plan = planFire(aSchedule({}, { paused }), NO_FACTS, at("12:30"))

    assert.deepEqual(ledger(plan.runs), ["09:00-12:00 (4) skipped paused"])
    assert.equal(plan.runs[0]?.message, "Paused by ada: migration")
    assert.deepInclude(plan.progress, { paused: null, nextRunAt: at("13:00"), firedCount: 0 })
  })

  test("an occurrence exactly at its end runs", () => {
    const schedule = aSchedule({}, { paused: aPause({ until: at("12:00") }) })

    const plan = planFire(schedule, NO_FACTS, at("12:00:00.020"))

    assert.deepEqual(ledger(plan.runs), ["09:00-11:00 (3) skipped paused", "12:00 schedule"])
  })

  test("if nobody was there at its end, what came since is caught up on like anything late", () => {
    const schedule = aSchedule({}, { paused: aPause({ until: at("10:30") }) })

    const plan = planFire(schedule, NO_FACTS, at("13:10"))

    assert.deepEqual(ledger(plan.runs), [
      "09:00-10:00 (2) skipped paused",
      "11:00-12:00 (2) skipped coalesced",
      "13:00 catchup",
    ])
    assert.deepInclude(plan.progress, { paused: null, nextRunAt: at("14:00"), firedCount: 1 })
  })

  test("one that runs out of occurrences during the pause is deleted if it asked for that", () => {
    const options = { at: at("09:00"), removeWhenFinished: true }

    const plan = planResume(aSchedule(options, { paused: aPause() }), NO_FACTS, at("10:00"))

    assert.isNull(plan.progress)
    assert.deepEqual(ledger(plan.runs), ["09:00 skipped paused"])
  })
})

describe("what was due before a pause began", () => {
  const late = () => aSchedule({}, { paused: aPause({ at: at("11:30") }) })

  test("is caught up on as ever, and the pause goes on", () => {
    const plan = planFire(late(), NO_FACTS, at("11:31"))

    assert.deepEqual(ledger(plan.runs), ["09:00-10:00 (2) skipped coalesced", "11:00 catchup"])
    assert.deepInclude(plan.progress, {
      paused: late().paused,
      nextRunAt: null,
      coveredUntil: at("11:00"),
      firedCount: 1,
    })
  })

  test("isn't recorded as paused when the pause ends", () => {
    const plan = planResume(late(), NO_FACTS, at("13:30"))

    assert.deepEqual(ledger(plan.runs), [
      "09:00-10:00 (2) skipped coalesced",
      "11:00 catchup",
      "12:00-13:00 (2) skipped paused",
    ])
    assert.deepInclude(plan.progress, { paused: null, nextRunAt: at("14:00") })
  })

  test("is settled once, whoever looks again", () => {
    const settled = applied(late(), planFire(late(), NO_FACTS, at("11:31")))

    assert.deepEqual(planFire(settled, NO_FACTS, at("12:10")).runs, [])
    assert.deepEqual(ledger(planResume(settled, NO_FACTS, at("12:10")).runs), ["12:00 skipped paused"])
  })

  test("has the only run there may be, if the pause is over as well", () => {
    const paused = { ...late().paused!, until: at("12:30") }

    const plan = planFire({ ...late(), paused }, NO_FACTS, at("14:10"))

    // Two runs with the same live key in one plan: no store would take it, and it would be planned for ever.
    assert.deepEqual(ledger(plan.runs.filter(({ liveKey }) => liveKey !== null)), ["11:00 catchup"])
    assert.deepEqual(ledger(plan.runs.slice(-1)), ["14:00 skipped overlap"])
  })

  test("is settled before an edit, beside what the pause has dropped", () => {
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
  test("without anything in the pause there is no record", () => {
    const plan = planResume(aSchedule({}, { paused: aPause() }), NO_FACTS, at("08:59"))

    assert.deepEqual(plan.runs, [])
    assert.deepInclude(plan.progress, { paused: null, nextRunAt: at("09:00") })
  })

  test("a pause by nobody for no reason is still called one", () => {
    const plan = planResume(aSchedule({}, { paused: aPause() }), NO_FACTS, at("09:30"))

    assert.deepEqual(ledger(plan.runs), ["09:00 skipped paused"])
    assert.equal(plan.runs[0]?.message, "Paused")
  })

  test("an occurrence moved forward into the pause is dropped with it", () => {
    const moved = { scheduledFor: at("11:00"), dueAt: at("10:10"), reason: null, by: null }
    const schedule = aSchedule({}, { paused: aPause(), overrides: [moved] })

    const plan = planResume(schedule, NO_FACTS, at("10:30"))

    assert.deepEqual(ledger(plan.runs), ["09:00-11:00 (3) skipped paused"])
    assert.deepInclude(plan.progress, { nextRunAt: at("12:00"), overrides: [] })
  })

  test("what was settled ahead of its time stays settled", () => {
    const schedule = aSchedule({}, { coveredUntil: at("11:00"), paused: aPause() })

    assert.deepInclude(planResume(schedule, NO_FACTS, at("09:30")).progress, {
      coveredUntil: at("11:00"),
      nextRunAt: at("12:00"),
    })
  })

  test("a disabled schedule stays due never", () => {
    const schedule = aSchedule({ enabled: false }, { paused: aPause() })

    assert.isNull(progressAfter(planResume(schedule, NO_FACTS, at("09:30"))).nextRunAt)
  })

  test("a schedule whose runs are used up doesn't come back to life", () => {
    const schedule = aSchedule({ maxRuns: 1 }, { firedCount: 1, finishedAt: at("08:00"), paused: aPause() })

    const plan = planResume(schedule, NO_FACTS, at("11:30"))

    assert.deepEqual(plan.runs, [])
    assert.deepInclude(plan.progress, { nextRunAt: null, finishedAt: at("08:00") })
  })
})

describe("planSettle, before an edit", () => {
  /** Nominally at 09:00, due by jitter at some later minute, which is between `held` and its due time. */
  function heldByJitter(): { schedule: Schedule; dueAt: number } {
    const schedule = aSchedule({ jitter: "50m" })
    return { schedule, dueAt: occurrenceAfter(schedule, MADE_AT)!.dueAt }
  }

  test("an occurrence that jitter still holds back becomes a run, which waits", () => {
    const { schedule, dueAt } = heldByJitter()

    const plan = planSettle(schedule, NO_FACTS, at("09:00:01"))

    assert.deepEqual(ledger(plan!.runs), ["09:00 schedule"])
    assert.equal(plan?.runs[0]?.notBefore, dueAt)
    assert.isAbove(dueAt, at("09:00:01"))
  })

  test("the edit then goes on from now without it, and nothing is lost or doubled", () => {
    const { schedule } = heldByJitter()
    const settled = applied(schedule, planSettle(schedule, NO_FACTS, at("09:00:01"))!)

    const edited = planAnew({ ...settled, jitterMs: 0 }, at("09:00:01"))

    assert.equal(clock(edited.nextRunAt), "10:00")
  })

  test("one that was moved to later becomes a run for that time", () => {
    const moved = { scheduledFor: at("09:00"), dueAt: at("09:45"), reason: null, by: null }

    const plan = planSettle(aSchedule({}, { overrides: [moved] }), NO_FACTS, at("09:10"))

    assert.equal(clock(plan!.runs[0]!.notBefore), "09:45")
  })

  test("policies hold as they do in firing", () => {
    const plan = planSettle(aSchedule(), withUnfinished(aRunRef()), at("09:10"))

    assert.deepEqual(ledger(plan!.runs), ["09:00 skipped overlap"])
  })

  test("nothing passed means nothing to do", () => {
    assert.isNull(planSettle(aSchedule(), NO_FACTS, at("08:59")))
  })

  test("what a pause dropped so far is recorded, and the pause goes on", () => {
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
    ["used up", aSchedule({ maxRuns: 1 }, { firedCount: 1 })],
  ])("a schedule that is %s owes nothing", (_, schedule) => {
    assert.isNull(planSettle(schedule, NO_FACTS, at("12:00")))
  })

  test("one that can't be read says so instead of refusing the edit that mends it", () => {
    const broken = { ...aSchedule(), timezone: "Mars/Olympus" }

    assert.match(progressAfter(planSettle(broken, NO_FACTS, at("12:00"))).lastError!, /Mars/)
  })
})
