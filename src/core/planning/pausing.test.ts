import { assert, describe, test } from "vitest"
import {
  applied,
  aRunRef,
  aSchedule,
  at,
  ledger,
  moved,
  progressAfter,
  withUnfinished,
} from "../../../test/support/records.ts"
import type { Schedule } from "../schedule/schedule.ts"
import { planFire, planSettle } from "./fire.ts"
import { occurrenceAfter } from "./occurrence.ts"
import { planResume } from "./pausing.ts"
import { NO_FACTS } from "./plan.ts"

const paused = { at: at("08:30"), until: null, reason: null, by: null }

describe("occurrences dropped by a pause", () => {
  const DROPPED: readonly [string, Schedule, string, readonly string[]][] = [
    ["no occurrence that is still to come", aSchedule({}, { paused }), "08:40", []],
    [
      "an occurrence moved to an earlier time, and the due one before it",
      aSchedule({}, { paused, overrides: [moved("10:00", "09:20")] }),
      "09:30",
      ["09:00-10:00 (2) skipped paused"],
    ],
    [
      "the first occurrence, moved to an earlier time",
      aSchedule({ at: at("12:00") }, { paused, overrides: [moved("12:00", "09:00")] }),
      "09:10",
      ["12:00 skipped paused"],
    ],
  ]

  test.each(DROPPED)("when a pause ends, it has dropped %s", (_, schedule, now, records) => {
    assert.deepEqual(ledger(planResume(schedule, NO_FACTS, at(now)).runs), records)
  })

  /** The nominal time has passed, and the occurrence is due after the pause. */
  const DELAYED: readonly [string, Schedule, string, readonly string[], readonly string[]][] = [
    [
      "an occurrence moved to a later time",
      aSchedule({}, { paused, overrides: [moved("09:00", "09:30")] }),
      "09:10",
      [],
      ["09:00 skipped paused"],
    ],
    [
      "an occurrence moved to a later time, after a due one",
      aSchedule({}, { paused, overrides: [moved("10:00", "10:30")] }),
      "10:10",
      ["09:00 skipped paused"],
      ["09:00-10:00 (2) skipped paused"],
    ],
  ]

  test.each(DELAYED)(
    "a pause that ended doesn't drop %s, which is still to come",
    (_, schedule, now, records) => {
      const plan = planResume(schedule, NO_FACTS, at(now))
      const after = applied(schedule, plan)

      assert.deepEqual(ledger(plan.runs), records)
      assert.equal(after.nextRunAt, schedule.overrides[0]!.dueAt)
      assert.lengthOf(planFire(after, NO_FACTS, after.nextRunAt!).runs, 1)
    },
  )

  test.each(DELAYED)(
    "before an edit a pause drops %s, because the new timetable may not contain it",
    (...given) => {
      const [, schedule, now, , records] = given

      assert.deepEqual(ledger(planSettle(schedule, NO_FACTS, at(now))!.runs), records)
    },
  )

  test("a pause with an end doesn't drop an occurrence that jitter delays to that end", () => {
    const jittered = aSchedule({ jitter: "30m" })
    const dueAt = occurrenceAfter(jittered, at("08:30"))!.dueAt
    const schedule = { ...jittered, paused: { ...paused, until: dueAt } }

    assert.isAbove(dueAt, at("09:00"))
    assert.deepEqual(ledger(planFire(schedule, NO_FACTS, dueAt).runs), ["09:00 schedule"])
  })

  test.each(DROPPED)("before an edit a pause has dropped %s", (_, schedule, now, records) => {
    assert.deepEqual(ledger(planSettle(schedule, NO_FACTS, at(now))?.runs ?? []), records)
  })
})

test("a schedule that begins paused is planned from now, and the occurrences in its pause are recorded", () => {
  const schedule = aSchedule({}, { paused, coveredUntil: null, nextRunAt: null })

  const begun = applied(schedule, planFire(schedule, NO_FACTS, at("08:40")))

  assert.deepEqual([begun.coveredUntil, begun.paused], [at("08:40"), paused])
  assert.deepEqual(ledger(planResume(begun, NO_FACTS, at("10:10")).runs), ["09:00-10:00 (2) skipped paused"])
})

test("before an edit of a paused schedule there is nothing to settle if the pause dropped nothing", () => {
  assert.isNull(planSettle(aSchedule({}, { paused }), NO_FACTS, at("08:40")))
})

test("a schedule with removeWhenFinished whose last occurrence was due before its pause is deleted", () => {
  const schedule = aSchedule(
    { at: at("08:20"), removeWhenFinished: true, catchUp: "once" },
    {
      paused: { ...paused, until: at("12:00") },
      coveredUntil: at("08:00"),
      nextRunAt: at("08:20"),
      finishedAt: null,
    },
  )

  for (const plan of [
    planSettle(schedule, NO_FACTS, at("09:00")),
    planFire(schedule, NO_FACTS, at("09:00")),
  ]) {
    assert.deepEqual(ledger(plan!.runs), ["08:20 catchup"])
    assert.isNull(plan!.progress)
  }
})

test("during a pause the schedule is due at the end of the pause, whatever was settled", () => {
  const schedule = aSchedule({}, { paused: { ...paused, at: at("09:30"), until: at("12:00") } })

  const plan = planFire(schedule, NO_FACTS, at("10:30"))

  assert.deepEqual(ledger(plan.runs), ["09:00 catchup"])
  assert.deepInclude(progressAfter(plan), { nextRunAt: at("12:00"), coveredUntil: at("09:00") })
})

test("occurrences due before a pause are recorded as skipped if the queue has no room", () => {
  const options = { catchUp: "all", overlap: { policy: "queue", limit: 1 } } as const
  const schedule = aSchedule(options, { paused: { ...paused, at: at("10:30") } })
  const full = withUnfinished(aRunRef({ id: "a" }), aRunRef({ id: "b", state: "pending", attempt: 0 }))

  assert.deepEqual(ledger(planFire(schedule, full, at("11:30")).runs), [
    "09:00 skipped capacity",
    "10:00 skipped capacity",
  ])
})
