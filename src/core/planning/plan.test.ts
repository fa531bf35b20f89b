import { assert, describe, test } from "vitest"
import { aRunRef, aSchedule, at, withUnfinished } from "../../../test/support/records.ts"
import { cancel } from "../run/run.ts"
import { newRunOf, skipRecordOf } from "./new-run.ts"
import { occurrenceAfter } from "./occurrence.ts"
import {
  cancelsOf,
  factsAfter,
  followedBy,
  NO_FACTS,
  needsRecords,
  planFrom,
  planOf,
  ranIn,
  withoutFinished,
} from "./plan.ts"

const schedule = aSchedule()
const run = newRunOf(schedule, occurrenceAfter(schedule, at("08:00"))!, { isLate: false, missed: null })
const why = { reason: "missed", message: null } as const
const one = skipRecordOf(schedule, { from: at("09:00"), until: at("09:00"), count: 1 }, why)
const range = skipRecordOf(schedule, { from: at("09:00"), until: at("11:00"), count: 3 }, why)

test("by default a plan has no runs and cancels nothing", () => {
  assert.deepInclude(planOf(schedule, {}), { scheduleId: "report", ifVersion: 7, runs: [], cancels: [] })
})

describe("two plans joined to one", () => {
  const cancelled = ["a", "b"].map((id) => cancel(aRunRef({ id }), { reason: null, by: null })!)

  test("a joined plan has the runs and cancels of both, in order, and the progress of the second", () => {
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

  test("the second plan isn't made if the first deletes the schedule", () => {
    const first = { ...planOf(schedule, {}), progress: null }

    assert.equal(
      followedBy(schedule, first, () => assert.fail("there is nothing left to plan")),
      first,
    )
  })
})

test("a plan never cancels a run that it makes", () => {
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
])("of the occurrences after %s and up to %s, ranIn counts %s that became runs", (after, until, count) => {
  const ran = ["09:00", "10:00", "12:00"].map((time) => ({ from: at(time), until: at(time), isRun: true }))
  const recorded = [...ran, { from: at("11:00"), until: at("11:00"), isRun: false }]

  assert.equal(ranIn({ ...NO_FACTS, recorded }, after === null ? null : at(after), at(until)), count)
  assert.equal(ranIn(NO_FACTS, after === null ? null : at(after), at(until)), 0)
})

test("for the next plan, the runs of a plan are unfinished and its skip records aren't", () => {
  const facts = withUnfinished(aRunRef({ id: "a" }))

  assert.deepEqual(factsAfter(facts, { ...planOf(schedule, {}), runs: [one, run, range] }), {
    ...facts,
    unfinished: [aRunRef({ id: "a" }), { id: run.id, state: "pending", attempt: 0, failures: 0, lost: 0 }],
  })
})

test.each([
  ["without records it isn't", [], false],
  ["with one run it isn't", [run], false],
  ["with one skip it isn't", [{ ...one, reason: "overlap" }], false],
  ["with a range it is", [range], true],
  ["with two runs it is", [run, run], true],
  ["with a skip and a run it is", [one, run], true],
  ["with a range and a run it is", [range, run], true],
])("a plan is made again with the recorded occurrences, or not: %s", (_, runs, expected) => {
  assert.equal(needsRecords({ ...planOf(schedule, {}), runs }, schedule), expected)
})

test("a plan with a missed occurrence is made again, and with any skip if the schedule has maxRuns", () => {
  const overlapping = { ...one, reason: "overlap" }
  const counted = aSchedule({ maxRuns: 3 })

  assert.isTrue(needsRecords({ ...planOf(schedule, {}), runs: [one] }, schedule))
  assert.isTrue(needsRecords({ ...planOf(schedule, {}), runs: [overlapping] }, counted))
  assert.isFalse(needsRecords({ ...planOf(schedule, {}), runs: [run] }, counted))
})

describe("schedules with removeWhenFinished", () => {
  const removed = aSchedule({ removeWhenFinished: true })
  const finished = planOf(removed, { finishedAt: at("09:00") })

  test("the plan that finishes a schedule with removeWhenFinished deletes it", () => {
    assert.isNull(withoutFinished(removed, finished).progress)
    assert.isNotNull(withoutFinished(removed, planOf(removed, { finishedAt: null })).progress)
    assert.isNotNull(withoutFinished(schedule, finished).progress)
  })

  test("a plan that already deletes the schedule isn't changed", () => {
    assert.isNull(withoutFinished(removed, { ...finished, progress: null }).progress)
  })
})

describe("planFrom", () => {
  const override = (time: string) => ({ scheduledFor: at(time), dueAt: null, reason: null, by: null })

  test("every occurrence up to the instant is settled, and the overrides of later ones are kept", () => {
    const overrides = ["09:00", "10:00", "11:00"].map(override)

    assert.deepEqual(planFrom({ ...schedule, overrides, lastError: "bad" }, at("10:00")), {
      coveredUntil: at("10:00"),
      nextRunAt: at("11:00"),
      finishedAt: null,
      overrides: [override("11:00")],
      lastError: null,
    })
  })

  test("a schedule without a further occurrence is finished at the instant, or keeps its finishedAt", () => {
    const once = aSchedule({ at: at("09:00") })

    assert.deepInclude(planFrom({ ...once, finishedAt: null }, at("10:00")), {
      nextRunAt: null,
      finishedAt: at("10:00"),
    })
    assert.equal(planFrom({ ...once, finishedAt: at("09:30") }, at("10:00")).finishedAt, at("09:30"))
  })
})
