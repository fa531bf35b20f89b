import type { Missed, NewRun, RunRequest, SkipReason } from "../run/run.ts"
import { concurrencyKeyOf, type Schedule, timetableOf } from "../schedule/schedule.ts"
import { nextInTimetable, type Trigger } from "../schedule/timetable.ts"
import { triggerText } from "../schedule/trigger-text.ts"
import type { Instant } from "../time/instant.ts"
import { type Occurrence, rangeIdOf, runIdOf } from "./occurrence.ts"

/** The run of an occurrence. */
export function newRunOf(
  schedule: Schedule,
  { scheduledFor, dueAt }: Occurrence,
  about: { isLate: boolean; missed: Missed | null },
): NewRun {
  return recordOf(schedule, scheduledFor, {
    id: runIdOf(schedule.id, scheduledFor),
    payload: schedule.payload,
    triggeredBy: about.isLate ? "catchup" : "schedule",
    missed: about.missed,
    liveKey: liveKeyOf(schedule),
    reason: null,
    state: "pending",
    notBefore: dueAt,
    message: null,
  })
}

/** The record of one occurrence, or a range of occurrences, without a run. */
export function skipRecordOf(
  schedule: Schedule,
  range: Missed,
  why: { reason: SkipReason; message: string | null },
): NewRun {
  const isSingle = range.from === range.until
  return recordOf(schedule, range.until, {
    id: isSingle ? runIdOf(schedule.id, range.until) : rangeIdOf(schedule.id, range),
    payload: null,
    triggeredBy: "schedule",
    missed: isSingle ? null : range,
    liveKey: null,
    reason: why.reason,
    state: "skipped",
    notBefore: null,
    message: why.message,
  })
}

/** Fields are listed one by one: a spread of two dozen fields at each fire costs four times the rest of a plan. */
function recordOf(
  schedule: Schedule,
  scheduledFor: Instant,
  own: Pick<
    NewRun,
    "id" | "payload" | "triggeredBy" | "missed" | "liveKey" | "reason" | "state" | "notBefore" | "message"
  >,
): NewRun {
  return {
    id: own.id,
    task: schedule.task,
    payload: own.payload,
    priority: schedule.priority,
    scheduleId: schedule.id,
    scheduledFor,
    parentId: null,
    triggeredBy: own.triggeredBy,
    trigger: triggerOf(schedule, scheduledFor),
    missed: own.missed,
    liveKey: own.liveKey,
    concurrencyKey: concurrencyKeyOf(schedule.id),
    concurrencyLimit: concurrencyLimitOf(schedule),
    retry: schedule.retry,
    timeoutMs: schedule.timeoutMs,
    reason: own.reason,
    by: null,
    state: own.state,
    delayMs: null,
    notBefore: own.notBefore,
    message: own.message,
  }
}

/** Facts are read before the plan is made. The live key prevents an overlap if another run appears in between. */
function liveKeyOf({ id, overlap }: Schedule): string | null {
  return overlap.policy === "skip" ? concurrencyKeyOf(id) : null
}

function concurrencyLimitOf({ maxConcurrentRuns, overlap }: Schedule): number | null {
  return maxConcurrentRuns ?? (overlap.policy === "allow" ? null : 1)
}

/** Defaults for a manual or backfilled run of a schedule. */
export function requestOf(schedule: Schedule): Omit<RunRequest, "id" | "triggeredBy"> {
  return {
    task: schedule.task,
    payload: schedule.payload,
    priority: schedule.priority,
    scheduleId: schedule.id,
    scheduledFor: null,
    parentId: null,
    trigger: null,
    missed: null,
    liveKey: liveKeyOf(schedule),
    concurrencyKey: concurrencyKeyOf(schedule.id),
    concurrencyLimit: concurrencyLimitOf(schedule),
    retry: schedule.retry,
    timeoutMs: schedule.timeoutMs,
    reason: null,
    by: null,
  }
}

/** `schedule:<cron>`: the trigger of the occurrence, as text to search logs for. */
function triggerOf(schedule: Schedule, scheduledFor: Instant): string {
  const timetable = timetableOf(schedule)
  const matches = (trigger: Trigger) =>
    nextInTimetable({ ...timetable, triggers: [trigger] }, scheduledFor - 1) === scheduledFor
  const trigger = schedule.triggers.length === 1 ? schedule.triggers[0] : schedule.triggers.find(matches)
  return `schedule:${trigger === undefined ? "@once" : triggerText(trigger)}`
}
