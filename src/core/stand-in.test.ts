import { assert, describe, test } from "vitest"
import { edit, edited } from "../../test/support/edited.ts"
import { aSchedule, at, clock, ledger } from "../../test/support/records.ts"
import { planFire } from "./fire.ts"
import { SECOND } from "./instant.ts"
import { NO_FACTS } from "./plan.ts"
import { standInFor } from "./stand-in.ts"

const nextOf = (schedule: ReturnType<typeof aSchedule>, since: string) =>
  clock(standInFor(schedule, at(since)).nextRunAt)

describe("a stand-in", () => {
  test("goes on where the schedules were last read, and never before what is settled", () => {
    assert.equal(nextOf(aSchedule(), "10:10"), "11:00")
    assert.equal(nextOf(aSchedule({}, { coveredUntil: at("11:00") }), "10:10"), "12:00")
    assert.equal(nextOf(aSchedule({}, { coveredUntil: null }), "10:10"), "11:00")
  })

  test("leaves out what an operator skipped", () => {
    const skipped = { scheduledFor: at("11:00"), dueAt: null, reason: null, by: null }

    const standIn = standInFor(aSchedule({}, { overrides: [skipped] }), at("10:10"))

    assert.deepEqual(ledger(planFire(standIn, NO_FACTS, at("11:00")).runs), ["11:00 skipped operator"])
  })

  test("fires what comes in time, and neither makes up for the rest nor records it", () => {
    const standIn = standInFor(aSchedule({ catchUp: "all", overlap: "allow" }), at("10:10"))
    const firedAt = (time: number) => ledger(planFire(standIn, NO_FACTS, time).runs)

    assert.deepEqual(firedAt(at("11:00")), ["11:00 schedule"])
    assert.deepEqual(firedAt(at("11:00") + 15 * SECOND), ["11:00 schedule"])
    assert.deepEqual(firedAt(at("11:00") + 15 * SECOND + 1), ["11:00 skipped missed"])
    assert.equal(standIn.catchUp.policy, "none")
  })

  test.each([
    ["paused", aSchedule({}, { paused: { at: at("09:00"), until: null, reason: null, by: null } })],
    ["disabled", aSchedule({ enabled: false })],
    ["of a zone that isn't there", { ...aSchedule(), timezone: "Mars/Olympus" }],
    ["of a trigger that can't be read", aSchedule({}, { triggers: [{ kind: "unreadable", why: "?" }] })],
    ["of numbers that aren't any", aSchedule({}, { coveredUntil: 1e300 })],
  ])("of a schedule that is %s waits for the stored one", (_, schedule) => {
    assert.isNull(standInFor(schedule, at("10:10")).nextRunAt)
  })

  test("of one that somebody wrote to leaves what was owed before to the stored one", () => {
    const standIn = standInFor(edited(aSchedule({ cron: "30 * * * *" }), edit("10:10", {})), at("10:20"))

    assert.equal(clock(standIn.nextRunAt), "10:30")
    assert.deepEqual(ledger(planFire(standIn, NO_FACTS, at("10:30")).runs), ["10:30 schedule"])
  })

  test("counts what others may have fired since, where there is a last run", () => {
    const schedule = aSchedule({ maxRuns: 3 })

    assert.equal(nextOf(schedule, "10:10"), "11:00")
    assert.equal(standInFor(schedule, at("10:10")).firedCount, 2)
    assert.equal(standInFor(schedule, at("15:10")).firedCount, 3)
    assert.equal(standInFor(aSchedule(), at("15:10")).firedCount, 0)
    assert.equal(standInFor({ ...schedule, coveredUntil: null }, at("15:10")).firedCount, 0)
  })
})
