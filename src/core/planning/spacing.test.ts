import { assert, test } from "vitest"
import { aSchedule, at, firedAt, ledger } from "../../../test/support/records.ts"
import type { Duration } from "../time/duration.ts"
import { MINUTE } from "../time/instant.ts"
import { planFire } from "./fire.ts"
import { NO_FACTS } from "./plan.ts"

test("an occurrence closer than the spacing after a fired one doesn't count", () => {
  const schedule = aSchedule({ every: "10m", spacing: "25m", catchUp: { policy: "once", grace: MINUTE } })

  const { runs } = firedAt(schedule, at("08:10"), at("08:20"), at("08:30"), at("08:40"), at("09:10"))

  assert.deepEqual(ledger(runs), ["08:10 schedule", "08:40 schedule", "09:10 schedule"])
})

test("an occurrence closer than the spacing isn't caught up either", () => {
  const schedule = aSchedule({ every: "10m", spacing: "25m", catchUp: "all", overlap: "allow" })

  const plan = planFire(schedule, NO_FACTS, at("09:50"))

  const times = ["08:10", "08:40", "09:10", "09:40"]
  assert.deepEqual(
    ledger(plan.runs),
    times.map((time) => `${time} catchup`),
  )
  assert.deepInclude(plan.progress, { coveredUntil: at("10:05") - 1, nextRunAt: at("10:10") })
})

test("a run fired from memory counts for the spacing of caught-up occurrences", () => {
  const schedule = aSchedule({ every: "10m", spacing: "25m", catchUp: "all", overlap: "allow" })
  const recorded = [{ from: at("08:20"), until: at("08:20"), isRun: true }]

  const plan = planFire(schedule, { ...NO_FACTS, recorded }, at("09:20"))

  assert.deepEqual(ledger(plan.runs), ["08:10 catchup", "08:50 catchup", "09:20 schedule"])
})

test("a run fired from memory counts for the spacing of the next occurrence", () => {
  const schedule = aSchedule({ every: "10m", spacing: "25m", catchUp: "none" })
  const recorded = [
    { from: at("08:20"), until: at("08:20"), isRun: true },
    { from: at("08:30"), until: at("08:30"), isRun: false },
  ]

  const plan = planFire(schedule, { ...NO_FACTS, recorded }, at("08:30"))

  assert.deepInclude(plan.progress, { coveredUntil: at("08:45") - 1, nextRunAt: at("08:50") })
})

test.each([
  ["the run of the newest occurrence counts", "08:30", "08:55"],
  ["a later run doesn't count", "08:40", "08:30"],
])("runs fired from memory and the spacing of the next occurrence: %s", (_, ran, spacedUntil) => {
  const schedule = aSchedule({ every: "10m", spacing: "25m", catchUp: "none" }, { coveredUntil: at("08:20") })
  const records = ["08:30", "08:40"].map((time) => ({ from: at(time), until: at(time), isRun: time === ran }))

  const plan = planFire(schedule, { ...NO_FACTS, recorded: records }, at("08:30"))

  assert.equal(plan.progress!.coveredUntil, Math.max(at(spacedUntil) - 1, at("08:30")))
})

test("a skip record doesn't count for the spacing", () => {
  const schedule = aSchedule({ every: "10m", spacing: "25m", catchUp: "all", overlap: "allow" })
  const recorded = [{ from: at("08:20"), until: at("08:20"), isRun: false }]

  const plan = planFire(schedule, { ...NO_FACTS, recorded }, at("08:40"))

  assert.deepEqual(ledger(plan.runs), ["08:10 catchup", "08:40 schedule"])
})

test.each<[Duration, string[]]>([
  ["10m", ["08:10", "08:20", "08:30", "08:40"]],
  ["1199999ms", ["08:10", "08:30"]],
  ["20m", ["08:10", "08:30"]],
  ["1200001ms", ["08:10", "08:40"]],
])("an occurrence exactly the spacing after the last counts: %s", (spacing, times) => {
  const inTime = aSchedule({ every: "10m", spacing })
  const late = aSchedule({ every: "10m", spacing, catchUp: "all", overlap: "allow" })
  const clocks = (runs: readonly string[]) => runs.map((run) => run.slice(0, 5))

  const onTheMinute = Array.from({ length: 41 }, (_, minute) => at("08:00") + minute * MINUTE)
  assert.deepEqual(clocks(ledger(firedAt(inTime, ...onTheMinute).runs)), times)
  assert.deepEqual(clocks(ledger(planFire(late, NO_FACTS, at("08:40")).runs)), times)
})
