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
} from "../../test/support/records.ts"
import { planFire, planSettle } from "./fire.ts"
import { occurrenceAfter } from "./occurrence.ts"
import { planResume } from "./pausing.ts"
import { NO_FACTS } from "./plan.ts"
import type { Schedule } from "./schedule.ts"

const paused = { at: at("08:30"), until: null, reason: null, by: null }

describe("what a pause drops", () => {
  const DROPPED: readonly [string, Schedule, string, readonly string[]][] = [
    ["nothing that is still to come", aSchedule({}, { paused }), "08:40", []],
    [
      "one that was moved forward, after one whose time has come",
      aSchedule({}, { paused, overrides: [moved("10:00", "09:20")] }),
      "09:30",
      ["09:00-10:00 (2) skipped paused"],
    ],
    [
      "the first of all, if it was moved forward",
      aSchedule({ at: at("12:00") }, { paused, overrides: [moved("12:00", "09:00")] }),
      "09:10",
      ["12:00 skipped paused"],
    ],
  ]

  test.each(DROPPED)("when it ends: %s", (_, schedule, now, records) => {
    assert.deepEqual(ledger(planResume(schedule, NO_FACTS, at(now)).runs), records)
  })

  /** Its nominal time has come, and it is due after the pause. */
  const HELD_BACK: readonly [string, Schedule, string, readonly string[], readonly string[]][] = [
    [
      "one that was moved to later",
      aSchedule({}, { paused, overrides: [moved("09:00", "09:30")] }),
      "09:10",
      [],
      ["09:00 skipped paused"],
    ],
    [
      "one that was moved to later, after one that was due",
      aSchedule({}, { paused, overrides: [moved("10:00", "10:30")] }),
      "10:10",
      ["09:00 skipped paused"],
      ["09:00-10:00 (2) skipped paused"],
    ],
  ]

  test.each(HELD_BACK)("not %s: it is still to come", (_, schedule, now, records) => {
    const plan = planResume(schedule, NO_FACTS, at(now))
    const after = applied(schedule, plan)

    assert.deepEqual(ledger(plan.runs), records)
    assert.equal(after.nextRunAt, schedule.overrides[0]!.dueAt)
    assert.lengthOf(planFire(after, NO_FACTS, after.nextRunAt!).runs, 1)
  })

  test.each(HELD_BACK)("before an edit: %s, which the new timetable may not have", (...given) => {
    const [, schedule, now, , records] = given

    assert.deepEqual(ledger(planSettle(schedule, NO_FACTS, at(now))!.runs), records)
  })

  test("not one that jitter holds back until after a pause that has ended by itself", () => {
    const jittered = aSchedule({ jitter: "30m" })
    const dueAt = occurrenceAfter(jittered, at("08:30"))!.dueAt
    const schedule = { ...jittered, paused: { ...paused, until: dueAt } }

    assert.isAbove(dueAt, at("09:00"))
    assert.deepEqual(ledger(planFire(schedule, NO_FACTS, dueAt).runs), ["09:00 schedule"])
  })

  test.each(DROPPED)("so far, before an edit: %s", (_, schedule, now, records) => {
    assert.deepEqual(ledger(planSettle(schedule, NO_FACTS, at(now))?.runs ?? []), records)
  })
})

test("a schedule that begins paused is planned from now, and what its pause drops is recorded", () => {
  const schedule = aSchedule({}, { paused, coveredUntil: null, nextRunAt: null })

  const begun = applied(schedule, planFire(schedule, NO_FACTS, at("08:40")))

  assert.deepEqual([begun.coveredUntil, begun.paused], [at("08:40"), paused])
  assert.deepEqual(ledger(planResume(begun, NO_FACTS, at("10:10")).runs), ["09:00-10:00 (2) skipped paused"])
})

test("before an edit of a paused schedule nothing is planned if nothing was dropped", () => {
  assert.isNull(planSettle(aSchedule({}, { paused }), NO_FACTS, at("08:40")))
})

test("a schedule that is finished by what was due before its pause goes, if it asked for that", () => {
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

test("while a pause lasts the schedule is due at its end, whatever was settled", () => {
  const schedule = aSchedule({}, { paused: { ...paused, at: at("09:30"), until: at("12:00") } })

  const plan = planFire(schedule, NO_FACTS, at("10:30"))

  assert.deepEqual(ledger(plan.runs), ["09:00 catchup"])
  assert.deepInclude(progressAfter(plan), { nextRunAt: at("12:00"), coveredUntil: at("09:00") })
})

test("what was due before a pause doesn't wait for room in its queue: what finds none is recorded", () => {
  const options = { catchUp: "all", overlap: { policy: "queue", limit: 1 } } as const
  const schedule = aSchedule(options, { paused: { ...paused, at: at("10:30") } })
  const full = withUnfinished(aRunRef({ id: "a" }), aRunRef({ id: "b", state: "pending", attempt: 0 }))

  assert.deepEqual(ledger(planFire(schedule, full, at("11:30")).runs), [
    "09:00 skipped capacity",
    "10:00 skipped capacity",
  ])
})
