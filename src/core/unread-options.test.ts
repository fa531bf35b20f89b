import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { AN_INSTANT, aSchedule } from "../store/laws/factories.ts"
import { planFire } from "./fire.ts"
import { minimalOptions } from "./minimal-options.ts"
import { describeTriggers } from "./new-run.ts"
import { definitionOf } from "./reconcile.ts"
import { redefine } from "./redefine.ts"
import { timetableOf } from "./schedule.ts"
import type { Trigger } from "./timetable.ts"
import { timetableInWords } from "./timetable-words.ts"
import { timesIn, unreadOptionsIn } from "./unread-options.ts"

const CRON: Trigger = { kind: "cron", cron: "0 7 * * *", dayMatch: "either" }
const written = { overlp: "queue", timeout: "10m" }
const PROBLEM: Trigger = {
  kind: "unreadable",
  why: "overlp is not an option.",
  options: { written, unread: ["overlp"] },
}
/** No trigger at all, of a row that can't be read whole. */
const NOTHING: Trigger = { kind: "unreadable", why: "Its row can't be read." }
const overrides = [{ scheduledFor: AN_INSTANT + 1, dueAt: null, reason: null, by: null }]
const broken = aSchedule({ triggers: [CRON, PROBLEM], overrides, coveredUntil: AN_INSTANT })

describe("options that can't be read", () => {
  test("are told apart from triggers that can't be", () => {
    assert.equal(unreadOptionsIn([CRON, PROBLEM]), PROBLEM)
    assert.equal(unreadOptionsIn([CRON, NOTHING]), null)
    assert.deepEqual(timesIn([CRON, NOTHING, PROBLEM]), [CRON, NOTHING])
  })

  test("are told apart from a trigger of a later version that has options", () => {
    const later = { kind: "calendar", options: {} }

    assert.equal(unreadOptionsIn([later]), null)
    assert.deepEqual(timesIn([later]), [later])
  })

  test("leave the timetable as it is for whoever looks", () => {
    assert.equal(describeTriggers(broken.triggers), "0 7 * * *")
    assert.equal(timetableInWords(timetableOf(broken)), "At 07:00 every day")
    assert.deepEqual(minimalOptions(broken), { cron: "0 7 * * *", ...written })
  })

  test("keep it from being planned, and say why", () => {
    const { progress, runs } = planFire(broken, { unfinished: [], lastSuccessAt: {} }, AN_INSTANT + 1)

    assert.deepEqual([progress?.nextRunAt, progress?.lastError, runs], [null, PROBLEM.why, []])
  })

  test("once mended, it is planned again, with what an operator said of its occurrences", () => {
    const mended = redefine(broken, { ...definitionOf(broken), triggers: [CRON] }, AN_INSTANT)
    const retimed = redefine(broken, { ...definitionOf(broken), triggers: [NOON] }, AN_INSTANT)

    assert.deepEqual([mended.revision, mended.overrides], [2, overrides])
    assert.notEqual(mended.nextRunAt, null)
    assert.deepEqual(retimed.overrides, [])
  })
})

const NOON: Trigger = { kind: "cron", cron: "0 12 * * *", dayMatch: "either" }
