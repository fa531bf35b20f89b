import { assert, describe, test } from "vitest"
import { edit, edited } from "../../test/support/edited.ts"
import { aSchedule, at, clock, ledger } from "../../test/support/records.ts"
import { SECOND } from "./instant.ts"
import { type FireFacts, NO_FACTS } from "./plan.ts"
import { planStandIn, type StandIn, standInAfter, standInFor } from "./stand-in.ts"

const nextOf = (schedule: ReturnType<typeof aSchedule>, since: string) =>
  clock(standInFor(schedule, at(since)).schedule.nextRunAt)

describe("a stand-in", () => {
  test("goes on where the schedules were last read, and never before what is settled", () => {
    assert.equal(nextOf(aSchedule(), "10:10"), "11:00")
    assert.equal(nextOf(aSchedule({}, { coveredUntil: at("11:00") }), "10:10"), "12:00")
    assert.equal(nextOf(aSchedule({}, { coveredUntil: null }), "10:10"), "11:00")
  })

  test("leaves out what an operator skipped", () => {
    const skipped = { scheduledFor: at("11:00"), dueAt: null, reason: null, by: null }

    const standIn = standInFor(aSchedule({}, { overrides: [skipped] }), at("10:10"))

    assert.deepEqual(ledger(planStandIn(standIn, NO_FACTS, at("11:00")).runs), ["11:00 skipped operator"])
  })

  test("fires what comes in time, and neither makes up for the rest nor records it", () => {
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
    ["of a zone that isn't there", { ...aSchedule(), timezone: "Mars/Olympus" }],
    ["of a trigger that can't be read", aSchedule({}, { triggers: [{ kind: "unreadable", why: "?" }] })],
    ["of numbers that aren't any", aSchedule({}, { coveredUntil: 1e300 })],
  ])("of a schedule that is %s waits for the stored one", (_, schedule) => {
    assert.isNull(standInFor(schedule, at("10:10")).schedule.nextRunAt)
  })

  test("of one that somebody wrote to leaves what was owed before to the stored one", () => {
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

  test("reads records only from where its last plan has counted them", () => {
    const spaced = standInFor(aSchedule({ spacing: "90m" }), at("10:10"))
    const after = standInAfter(spaced, planStandIn(spaced, NO_FACTS, at("11:00")))!

    assert.equal(clock(after.recordedAfter), "10:59:59.999")
    assert.isNull(
      standInAfter(standInFor(aSchedule(), at("10:10")), planStandIn(spaced, NO_FACTS, at("11:00")))!
        .recordedAfter,
    )
  })

  test("looks for records only where runs are counted, or have to be apart", () => {
    const lookedFor = (options: Parameters<typeof aSchedule>[0]) => {
      const { recordedAfter } = standInFor(aSchedule(options), at("10:10"))
      return recordedAfter === null ? null : clock(recordedAfter)
    }

    assert.isNull(lookedFor({}))
    assert.equal(lookedFor({ maxRuns: 3 }), "08:00")
    assert.equal(lookedFor({ spacing: "1h" }), "08:00")
    assert.equal(lookedFor({ spacing: "3h" }), "07:10")
  })

  test("counts what others have fired since the last read, once", () => {
    const standIn = standInFor(aSchedule({ maxRuns: 4 }), at("10:10"))
    const first = planStandIn(standIn, ran("09:00", "10:00"), at("11:00"))
    const next = standInAfter(standIn, first)!

    assert.deepEqual(ledger(first.runs), ["11:00 schedule"])
    assert.equal(next.schedule.firedCount, 3)
    assert.deepEqual(runsAt(next, ran("09:00", "10:00", "11:00"), "12:00"), ["12:00 schedule"])
    assert.deepEqual(runsAt(standIn, ran("08:30", "09:00", "09:30", "10:00"), "11:00"), [])
    assert.isNull(standInAfter(standIn, { ...first, progress: null }))
  })

  test("of a schedule that was never planned counts nothing from before", () => {
    const standIn = standInFor(aSchedule({ maxRuns: 1 }, { coveredUntil: null }), at("10:10"))

    assert.deepEqual(runsAt(standIn, ran("09:00", "10:00"), "11:00"), ["11:00 schedule"])
  })

  test("keeps its distance from what others fired", () => {
    const standIn = standInFor(aSchedule({ spacing: "2h" }), at("10:10"))

    assert.deepEqual(runsAt(standIn, ran("09:00"), "11:00"), ["11:00 schedule"])
    assert.deepEqual(runsAt(standIn, ran("10:00"), "11:00"), [])
  })
})
