import { assert, describe, test } from "vitest"
import { aRunRef, aSchedule, at, withUnfinished } from "../../test/support/records.ts"
import { newRunOf, skipRecordOf } from "./new-run.ts"
import { occurrenceAfter } from "./occurrence.ts"
import {
  cancelsOf,
  factsAfter,
  followedBy,
  isToLookUp,
  NO_FACTS,
  planFrom,
  planOf,
  ranIn,
  withoutFinished,
} from "./plan.ts"
import { cancel } from "./run.ts"

const schedule = aSchedule()
const run = newRunOf(schedule, occurrenceAfter(schedule, at("08:00"))!, { isLate: false, missed: null })
const why = { reason: "missed", message: null } as const
const one = skipRecordOf(schedule, { from: at("09:00"), until: at("09:00"), count: 1 }, why)
const range = skipRecordOf(schedule, { from: at("09:00"), until: at("11:00"), count: 3 }, why)

test("a plan has no runs and cancels nothing, unless it is told to", () => {
  assert.deepInclude(planOf(schedule, {}), { scheduleId: "report", ifVersion: 7, runs: [], cancels: [] })
})

describe("two steps as one plan", () => {
  const cancelled = ["a", "b"].map((id) => cancel(aRunRef({ id }), { reason: null, by: null })!)

  test("have the runs and the cancelled runs of both, in order, and the second one's progress", () => {
    const first = planOf(schedule, { firedCount: 1 }, { runs: [one], cancels: [cancelled[0]!] })

    const plan = followedBy(schedule, first, (after) =>
      planOf(
        { ...after, version: 8 },
        { firedCount: after.firedCount + 1 },
        { runs: [run], cancels: [cancelled[1]!] },
      ),
    )

    assert.deepEqual([plan.runs, plan.cancels], [[one, run], cancelled])
    assert.deepEqual([plan.progress?.firedCount, plan.ifVersion], [2, 7])
  })

  test("end with the first, if it deletes the schedule", () => {
    const first = { ...planOf(schedule, {}), progress: null }

    assert.equal(
      followedBy(schedule, first, () => assert.fail("there is nothing left to plan")),
      first,
    )
  })
})

test("a run never gives way to itself", () => {
  const cancels = [run.id, "other"].map((id) => cancel(aRunRef({ id }), { reason: null, by: null })!)
  const cancelled = (...runs: readonly (typeof run)[]) =>
    cancelsOf(planOf(schedule, {}, { runs, cancels })).map(({ runId }) => runId)

  assert.deepEqual(cancelled(), [run.id, "other"])
  assert.deepEqual(cancelled(one, run), ["other"])
})

test.each([
  ["08:00", "12:00", 3],
  ["09:00", "12:00", 2],
  ["08:00", "10:00", 2],
  [null, "12:00", 0],
])("of the occurrences after %s, up to %s, %s became runs already", (after, until, count) => {
  const ran = ["09:00", "10:00", "12:00"].map((time) => ({ from: at(time), until: at(time), isRun: true }))
  const recorded = [...ran, { from: at("11:00"), until: at("11:00"), isRun: false }]

  assert.equal(ranIn({ ...NO_FACTS, recorded }, after === null ? null : at(after), at(until)), count)
  assert.equal(ranIn(NO_FACTS, after === null ? null : at(after), at(until)), 0)
})

test("for the plan that follows, the runs of the first are unfinished; its records of skips aren't", () => {
  const facts = withUnfinished(aRunRef({ id: "a" }))

  assert.deepEqual(factsAfter(facts, { ...planOf(schedule, {}), runs: [one, run, range] }), {
    ...facts,
    unfinished: [aRunRef({ id: "a" }), { id: run.id, state: "pending", attempt: 0, failures: 0, lost: 0 }],
  })
})

test.each([
  ["nothing", [], false],
  ["a run", [run], false],
  ["a skip", [{ ...one, reason: "overlap" }], false],
  ["a range", [range], true],
  ["two runs", [run, run], true],
  ["a skip and a run", [one, run], true],
  ["a range and a run", [range, run], true],
])("whether some of its occurrences may have a record already: %s", (_, runs, expected) => {
  assert.equal(isToLookUp({ ...planOf(schedule, {}), runs }, schedule), expected)
})

test("where runs are counted, a skip may stand where a run is; one that was missed may anywhere", () => {
  const overlapping = { ...one, reason: "overlap" }
  const counted = aSchedule({ maxRuns: 3 })

  assert.isTrue(isToLookUp({ ...planOf(schedule, {}), runs: [one] }, schedule))
  assert.isTrue(isToLookUp({ ...planOf(schedule, {}), runs: [overlapping] }, counted))
  assert.isFalse(isToLookUp({ ...planOf(schedule, {}), runs: [run] }, counted))
})

describe("a schedule that is to be removed when it is finished", () => {
  const removed = aSchedule({ removeWhenFinished: true })
  const finished = planOf(removed, { finishedAt: at("09:00") })

  test("goes with the plan that finishes it, and not before", () => {
    assert.isNull(withoutFinished(removed, finished).progress)
    assert.isNotNull(withoutFinished(removed, planOf(removed, { finishedAt: null })).progress)
    assert.isNotNull(withoutFinished(schedule, finished).progress)
  })

  test("stays gone", () => {
    assert.isNull(withoutFinished(removed, { ...finished, progress: null }).progress)
  })
})

describe("planned from an instant", () => {
  const override = (time: string) => ({ scheduledFor: at(time), dueAt: null, reason: null, by: null })

  test("everything up to it is settled, and what was said of later occurrences is kept", () => {
    const overrides = ["09:00", "10:00", "11:00"].map(override)

    assert.deepEqual(planFrom({ ...schedule, overrides, lastError: "bad" }, at("10:00")), {
      coveredUntil: at("10:00"),
      nextRunAt: at("11:00"),
      finishedAt: null,
      overrides: [override("11:00")],
      lastError: null,
    })
  })

  test("without an occurrence to come it is finished then, or stays finished since", () => {
    const once = aSchedule({ at: at("09:00") })

    assert.deepInclude(planFrom({ ...once, finishedAt: null }, at("10:00")), {
      nextRunAt: null,
      finishedAt: at("10:00"),
    })
    assert.equal(planFrom({ ...once, finishedAt: at("09:30") }, at("10:00")).finishedAt, at("09:30"))
  })
})
