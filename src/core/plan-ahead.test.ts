import { assert, describe, test } from "vitest"
import { aRunRef, aSchedule, at, ledger, withUnfinished } from "../../test/support/records.ts"
import { planFire } from "./fire.ts"
import { NO_FACTS } from "./plan.ts"
import { planAhead } from "./plan-ahead.ts"

describe("a plan made before the instant", () => {
  test("is the one that would be made at the instant", () => {
    const schedule = aSchedule()

    const plan = planAhead(schedule, NO_FACTS)

    assert.deepEqual(plan, planFire(schedule, NO_FACTS, at("09:00")))
    assert.deepEqual(ledger(plan!.runs), ["09:00 schedule"])
  })

  test("has its runs wait for the instant, or for as long as jitter holds them back", () => {
    const jittered = aSchedule({ jitter: "10m" })

    for (const schedule of [aSchedule(), jittered]) {
      const [run] = planAhead(schedule, NO_FACTS)!.runs
      assert.equal(run?.notBefore, schedule.nextRunAt)
      assert.equal(run?.scheduledFor, at("09:00"))
    }
    assert.notEqual(jittered.nextRunAt, at("09:00"))
  })

  test.each([["skip"], ["queue"], ["allow"]] as const)("is made under overlap %s", (overlap) => {
    assert.isNotNull(planAhead(aSchedule({ overlap }), NO_FACTS))
  })
})

describe("no plan is made before the instant", () => {
  const skipped = { scheduledFor: at("09:00"), dueAt: null, reason: null, by: null }

  test.each([
    ["an earlier run is unfinished, which may end in time", aSchedule(), withUnfinished(aRunRef())],
    [
      "it depends on others, which may succeed in time",
      aSchedule({ dependsOn: [{ schedule: "import", within: "1d" }] }),
      NO_FACTS,
    ],
    [
      "it would replace a run that somebody starts by hand in time",
      aSchedule({ overlap: "replace" }),
      NO_FACTS,
    ],
    ["it is disabled", aSchedule({ enabled: false }, { nextRunAt: at("09:00") }), NO_FACTS],
    [
      "it is paused",
      aSchedule({}, { paused: { at: at("08:30"), until: at("09:00"), reason: null, by: null } }),
      NO_FACTS,
    ],
    ["it was never planned", aSchedule({}, { coveredUntil: null }), NO_FACTS],
    ["it comes to its end then", aSchedule({ maxRuns: 1 }), NO_FACTS],
    ["it goes then", aSchedule({ at: "2026-03-10T09:00:00Z", removeWhenFinished: true }), NO_FACTS],
    ["somebody has taken the occurrence out", aSchedule({}, { overrides: [skipped] }), NO_FACTS],
    ["it can't be read", aSchedule({}, { timezone: "Mars/Phobos" }), NO_FACTS],
  ])("if %s", (_, schedule, facts) => {
    assert.isNull(planAhead(schedule, facts))
  })

  test("if older occurrences are owed with it", () => {
    const schedule = aSchedule({ catchUp: "once" }, { nextRunAt: at("11:00") })

    assert.isNull(planAhead(schedule, NO_FACTS))
  })
})

test.each([
  ["nothing is due at its next instant after all", aSchedule({}, { nextRunAt: at("08:30") }), NO_FACTS],
  [
    "a run is unfinished, though it may run beside it",
    aSchedule({ overlap: "allow" }),
    withUnfinished(aRunRef()),
  ],
  [
    "it depends on another, though that has succeeded",
    aSchedule({ dependsOn: [{ schedule: "import", within: "1d" }] }),
    { ...NO_FACTS, lastSuccessAt: { import: at("08:30") } },
  ],
])("nothing is planned ahead if %s", (_, schedule, facts) => {
  assert.isNull(planAhead(schedule, facts))
})
