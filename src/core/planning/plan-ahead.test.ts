import { assert, describe, test } from "vitest"
import { aRunRef, aSchedule, at, ledger, withUnfinished } from "../../../test/support/records.ts"
import { planFire } from "./fire.ts"
import { NO_FACTS } from "./plan.ts"
import { planAhead } from "./plan-ahead.ts"

describe("plans made ahead", () => {
  test("a plan made ahead equals the plan made at the due instant", () => {
    const schedule = aSchedule()

    const plan = planAhead(schedule, NO_FACTS)

    assert.deepEqual(plan, planFire(schedule, NO_FACTS, at("09:00")))
    assert.deepEqual(ledger(plan!.runs), ["09:00 schedule"])
  })

  test("the runs of a plan made ahead start at the due instant, which includes jitter", () => {
    const jittered = aSchedule({ jitter: "10m" })

    for (const schedule of [aSchedule(), jittered]) {
      const [run] = planAhead(schedule, NO_FACTS)!.runs
      assert.equal(run?.notBefore, schedule.nextRunAt)
      assert.equal(run?.scheduledFor, at("09:00"))
    }
    assert.notEqual(jittered.nextRunAt, at("09:00"))
  })

  test.each([["skip"], ["queue"], ["allow"]] as const)("a plan is made ahead with overlap %s", (overlap) => {
    assert.isNotNull(planAhead(aSchedule({ overlap }), NO_FACTS))
  })
})

describe("schedules that aren't planned ahead", () => {
  const skipped = { scheduledFor: at("09:00"), dueAt: null, reason: null, by: null }

  test.each([
    ["an earlier run is unfinished, because it may end in time", aSchedule(), withUnfinished(aRunRef())],
    [
      "the schedule has dependencies, because they may succeed in time",
      aSchedule({ dependsOn: [{ schedule: "import", within: "1d" }] }),
      NO_FACTS,
    ],
    [
      "overlap is replace, because a manual run that starts in time would have to be cancelled",
      aSchedule({ overlap: "replace" }),
      NO_FACTS,
    ],
    ["the schedule is disabled", aSchedule({ enabled: false }, { nextRunAt: at("09:00") }), NO_FACTS],
    [
      "the schedule is paused",
      aSchedule({}, { paused: { at: at("08:30"), until: at("09:00"), reason: null, by: null } }),
      NO_FACTS,
    ],
    ["the schedule was never planned", aSchedule({}, { coveredUntil: null }), NO_FACTS],
    ["the occurrence is the last one", aSchedule({ maxRuns: 1 }), NO_FACTS],
    [
      "the schedule is deleted after the occurrence",
      aSchedule({ at: "2026-03-10T09:00:00Z", removeWhenFinished: true }),
      NO_FACTS,
    ],
    ["an operator skipped the occurrence", aSchedule({}, { overrides: [skipped] }), NO_FACTS],
    ["the schedule can't be read", aSchedule({}, { timezone: "Mars/Phobos" }), NO_FACTS],
  ])("no plan is made ahead if %s", (_, schedule, facts) => {
    assert.isNull(planAhead(schedule, facts))
  })

  test("no plan is made ahead if older occurrences are owed too", () => {
    const schedule = aSchedule({ catchUp: "once" }, { nextRunAt: at("11:00") })

    assert.isNull(planAhead(schedule, NO_FACTS))
  })
})

test.each([
  ["nothing is due at nextRunAt", aSchedule({}, { nextRunAt: at("08:30") }), NO_FACTS],
  [
    "a run is unfinished, even with overlap allow",
    aSchedule({ overlap: "allow" }),
    withUnfinished(aRunRef()),
  ],
  [
    "the schedule has a dependency, even one that succeeded",
    aSchedule({ dependsOn: [{ schedule: "import", within: "1d" }] }),
    { ...NO_FACTS, lastSuccessAt: { import: at("08:30") } },
  ],
])("no plan is made ahead if %s", (_, schedule, facts) => {
  assert.isNull(planAhead(schedule, facts))
})
