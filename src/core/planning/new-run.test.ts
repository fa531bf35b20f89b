import { assert, describe, test } from "vitest"
import { aSchedule, at } from "../../../test/support/records.ts"
import type { Schedule } from "../schedule/schedule.ts"
import { MINUTE } from "../time/instant.ts"
import { newRunOf, requestOf, skipRecordOf } from "./new-run.ts"
import { occurrenceAfter } from "./occurrence.ts"

describe("skip records", () => {
  test("the record of missed occurrences is a skipped run with its reason and without payload or live key", () => {
    const missed = { from: at("09:00"), until: at("11:00"), count: 3 }

    const record = skipRecordOf(aSchedule({ priority: 5 }), missed, { reason: "missed", message: "away" })

    assert.deepInclude(record, {
      id: "report@2026-03-10T09:00:00Z..2026-03-10T11:00:00Z",
      state: "skipped",
      triggeredBy: "schedule",
      scheduledFor: at("11:00"),
      payload: null,
      liveKey: null,
      reason: "missed",
      message: "away",
      notBefore: null,
    })
    assert.deepEqual(record.missed, missed)
  })
})

test("a manual run takes every field except its id from the schedule", () => {
  const schedule = aSchedule({ priority: 5, timeout: "1m", maxConcurrentRuns: 2, retry: { attempts: 7 } })

  assert.deepEqual(requestOf({ ...schedule, payload: { shop: 1 } }), {
    task: "send",
    payload: { shop: 1 },
    priority: 5,
    scheduleId: "report",
    scheduledFor: null,
    parentId: null,
    trigger: null,
    missed: null,
    liveKey: "schedule:report",
    concurrencyKey: "schedule:report",
    concurrencyLimit: 2,
    retry: schedule.retry,
    timeoutMs: MINUTE,
    reason: null,
    by: null,
  })
})

describe("the trigger of a run", () => {
  /** An occurrence that an operator added between two occurrences of the timetable. */
  const ADDED = { scheduledFor: at("08:20"), dueAt: at("08:20"), reason: null, by: null }
  const triggerOf = (schedule: Schedule) =>
    newRunOf(schedule, occurrenceAfter(schedule, at("08:10"))!, { isLate: false, missed: null }).trigger

  test("the trigger of a run is the only trigger of its schedule, also for an added occurrence", () => {
    assert.equal(triggerOf(aSchedule({}, { overrides: [ADDED] })), "schedule:0 * * * *")
  })

  test("with several triggers, the trigger of a run is the one that matched, or @once for an added occurrence", () => {
    const triggers = [{ cron: "0 * * * *" }, { every: "30m" as const }]

    assert.equal(triggerOf(aSchedule({ triggers })), "schedule:@every 30m")
    assert.equal(triggerOf(aSchedule({ triggers }, { overrides: [ADDED] })), "schedule:@once")
  })
})
