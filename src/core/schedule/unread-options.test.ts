import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { AN_INSTANT, aStoredSchedule } from "../../store/laws/factories.ts"
import { minimalOptions } from "../options/minimal-options.ts"
import { planFire } from "../planning/fire.ts"
import { redefine } from "../planning/redefine.ts"
import { definitionOf } from "./reconcile.ts"
import { timetableOf } from "./schedule.ts"
import type { Trigger } from "./timetable.ts"
import { timetableInWords } from "./timetable-words.ts"
import { describeTriggers } from "./trigger-text.ts"
import { readableTriggers, unreadOptionsIn } from "./unread-options.ts"

const CRON: Trigger = { kind: "cron", cron: "0 7 * * *", dayMatch: "either" }
const written = { overlp: "queue", timeout: "10m" }
const PROBLEM: Trigger = {
  kind: "unreadable",
  why: "overlp is not an option.",
  options: { written, unread: ["overlp"] },
}
/** Stands for the triggers of a row that can't be read at all. */
const NO_TRIGGER: Trigger = { kind: "unreadable", why: "Its row can't be read." }
const overrides = [{ scheduledFor: AN_INSTANT + 1, dueAt: null, reason: null, by: null }]
const broken = aStoredSchedule({ triggers: [CRON, PROBLEM], overrides, coveredUntil: AN_INSTANT })

describe("unreadable options", () => {
  test("unreadable options are distinguished from unreadable triggers", () => {
    assert.equal(unreadOptionsIn([CRON, PROBLEM]), PROBLEM)
    assert.equal(unreadOptionsIn([CRON, NO_TRIGGER]), null)
    assert.deepEqual(readableTriggers([CRON, NO_TRIGGER, PROBLEM]), [CRON, NO_TRIGGER])
  })

  test("unreadable options are distinguished from a trigger of a later version that has `options`", () => {
    const later = { kind: "calendar", options: {} }

    assert.equal(unreadOptionsIn([later]), null)
    assert.deepEqual(readableTriggers([later]), [later])
  })

  test("the timetable of a schedule with unreadable options can still be described", () => {
    assert.equal(describeTriggers(broken.triggers), "0 7 * * *")
    assert.equal(timetableInWords(timetableOf(broken)), "At 07:00 every day")
    assert.deepEqual(minimalOptions(broken), { cron: "0 7 * * *", ...written })
  })

  test("a schedule with unreadable options isn't planned, and lastError has the reason", () => {
    const { progress, runs } = planFire(broken, { unfinished: [], lastSuccessAt: {} }, AN_INSTANT + 1)

    assert.deepEqual([progress?.nextRunAt, progress?.lastError, runs], [null, PROBLEM.why, []])
  })

  test("a schedule whose options were repaired is planned again with its overrides", () => {
    const repaired = redefine(broken, { ...definitionOf(broken), triggers: [CRON] }, AN_INSTANT)
    const retimed = redefine(broken, { ...definitionOf(broken), triggers: [NOON] }, AN_INSTANT)

    assert.deepEqual([repaired.revision, repaired.overrides], [2, overrides])
    assert.notEqual(repaired.nextRunAt, null)
    assert.deepEqual(retimed.overrides, [])
  })
})

const NOON: Trigger = { kind: "cron", cron: "0 12 * * *", dayMatch: "either" }
