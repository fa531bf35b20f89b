import { assert, describe, test } from "vitest"
import { edit, edited } from "../../../test/support/edited.ts"
import { aSchedule, at, clock, ledger } from "../../../test/support/records.ts"
import { SECOND } from "../time/instant.ts"
import { type FireFacts, NO_FACTS } from "./plan.ts"
import { planStandIn, type StandIn, standInAfter, standInFor } from "./stand-in.ts"

const nextOf = (schedule: ReturnType<typeof aSchedule>, since: string) =>
  clock(standInFor(schedule, at(since)).schedule.nextRunAt)

describe("stand-ins", () => {
  test("a stand-in begins where the schedules were last read, but not before coveredUntil", () => {
    assert.equal(nextOf(aSchedule(), "10:10"), "11:00")
    assert.equal(nextOf(aSchedule({}, { coveredUntil: at("11:00") }), "10:10"), "12:00")
    assert.equal(nextOf(aSchedule({}, { coveredUntil: null }), "10:10"), "11:00")
  })

  test("a stand-in records an occurrence that an operator skipped", () => {
    const skipped = { scheduledFor: at("11:00"), dueAt: null, reason: null, by: null }

    const standIn = standInFor(aSchedule({}, { overrides: [skipped] }), at("10:10"))

    assert.deepEqual(ledger(planStandIn(standIn, NO_FACTS, at("11:00")).runs), ["11:00 skipped operator"])
  })

  test("a stand-in fires occurrences that are at most 20 s late and doesn't catch up older ones", () => {
    const standIn = standInFor(aSchedule({ catchUp: "all", overlap: "allow" }), at("10:10"))
    const firedAt = (time: number) => ledger(planStandIn(standIn, NO_FACTS, time).runs)

    assert.deepEqual(firedAt(at("11:00")), ["11:00 schedule"])
    assert.deepEqual(firedAt(at("11:00") + 20 * SECOND), ["11:00 schedule"])
    assert.deepEqual(firedAt(at("11:00") + 20 * SECOND + 1), ["11:00 skipped missed"])
    assert.equal(standIn.schedule.catchUp.policy, "none")
  })

  test.each([
    ["paused", aSchedule({}, { paused: { at: at("09:00"), until: null, reason: null, by: null } })],
    ["disabled", aSchedule({ enabled: false })],
    ["in an unknown time zone", { ...aSchedule(), timezone: "Mars/Olympus" }],
    ["without a readable trigger", aSchedule({}, { triggers: [{ kind: "unreadable", why: "?" }] })],
    ["without a valid coveredUntil", aSchedule({}, { coveredUntil: 1e300 })],
  ])("the stand-in of a schedule that is %s has no next run", (_, schedule) => {
    assert.isNull(standInFor(schedule, at("10:10")).schedule.nextRunAt)
  })

  test("the stand-in of a schedule with edits leaves occurrences owed before the edit to the stored schedule", () => {
    const standIn = standInFor(edited(aSchedule({ cron: "30 * * * *" }), edit("10:10", {})), at("10:20"))

    assert.equal(clock(standIn.schedule.nextRunAt), "10:30")
    assert.deepEqual(ledger(planStandIn(standIn, NO_FACTS, at("10:30")).runs), ["10:30 schedule"])
  })

  const ran = (...times: readonly string[]) => ({
    ...NO_FACTS,
    recorded: times.map((time) => ({ from: at(time), until: at(time), isRun: true })),
  })
  const runsAt = (standIn: StandIn, facts: FireFacts, time: string) =>
    ledger(planStandIn(standIn, facts, at(time)).runs)

  test("a stand-in reads records only from the instant up to which its last plan counted them", () => {
    const spaced = standInFor(aSchedule({ spacing: "90m" }), at("10:10"))
    const after = standInAfter(spaced, planStandIn(spaced, NO_FACTS, at("11:00")))!

    assert.equal(clock(after.recordedAfter), "10:59:59.999")
    assert.isNull(
      standInAfter(standInFor(aSchedule(), at("10:10")), planStandIn(spaced, NO_FACTS, at("11:00")))!
        .recordedAfter,
    )
  })

  test("a stand-in reads records only if the schedule has maxRuns or spacing", () => {
    const readFrom = (options: Parameters<typeof aSchedule>[0]) => {
      const { recordedAfter } = standInFor(aSchedule(options), at("10:10"))
      return recordedAfter === null ? null : clock(recordedAfter)
    }

    assert.isNull(readFrom({}))
    assert.equal(readFrom({ maxRuns: 3 }), "08:00")
    assert.equal(readFrom({ spacing: "1h" }), "08:00")
    assert.equal(readFrom({ spacing: "3h" }), "07:10")
  })

  test("a stand-in counts each run that other processes fired once", () => {
    const standIn = standInFor(aSchedule({ maxRuns: 4 }), at("10:10"))
    const first = planStandIn(standIn, ran("09:00", "10:00"), at("11:00"))
    const next = standInAfter(standIn, first)!

    assert.deepEqual(ledger(first.runs), ["11:00 schedule"])
    assert.equal(next.schedule.firedCount, 3)
    assert.deepEqual(runsAt(next, ran("09:00", "10:00", "11:00"), "12:00"), ["12:00 schedule"])
    assert.deepEqual(runsAt(standIn, ran("08:30", "09:00", "09:30", "10:00"), "11:00"), [])
    assert.isNull(standInAfter(standIn, { ...first, progress: null }))
  })

  test("the stand-in of a schedule that was never planned counts no earlier run", () => {
    const standIn = standInFor(aSchedule({ maxRuns: 1 }, { coveredUntil: null }), at("10:10"))

    assert.deepEqual(runsAt(standIn, ran("09:00", "10:00"), "11:00"), ["11:00 schedule"])
  })

  test("a stand-in keeps the spacing from runs that other processes fired", () => {
    const standIn = standInFor(aSchedule({ spacing: "2h" }), at("10:10"))

    assert.deepEqual(runsAt(standIn, ran("09:00"), "11:00"), ["11:00 schedule"])
    assert.deepEqual(runsAt(standIn, ran("10:00"), "11:00"), [])
  })
})
