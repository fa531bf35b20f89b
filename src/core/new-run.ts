import { formatDuration } from "./duration.ts"
import { formatInstant, type Instant } from "./instant.ts"
import { type Occurrence, runIdOf } from "./occurrence.ts"
import type { Missed, NewRun, RunRequest, SkipReason } from "./run.ts"
import { concurrencyKeyOf, type Schedule, timetableOf } from "./schedule.ts"
import { nextInTimetable, type Trigger } from "./timetable.ts"

/** The run an occurrence becomes. */
export function newRunOf(
  schedule: Schedule,
  occurrence: Occurrence,
  about: { isLate: boolean; missed: Missed | null },
): NewRun {
  const { scheduledFor, dueAt } = occurrence
  return {
    ...requestOf(schedule),
    id: runIdOf(schedule.id, scheduledFor),
    scheduledFor,
    triggeredBy: about.isLate ? "catchup" : "schedule",
    trigger: triggerOf(schedule, scheduledFor),
    missed: about.missed,
    state: "pending",
    delayMs: 0,
    notBefore: dueAt,
    message: null,
  }
}

/** What every run of a schedule has in common, whoever asked for it. */
export function requestOf(schedule: Schedule): Omit<RunRequest, "id" | "triggeredBy"> {
  return {
    task: schedule.task,
    payload: schedule.payload,
    priority: schedule.priority,
    scheduleId: schedule.id,
    scheduledFor: null,
    trigger: null,
    missed: null,
    // Facts were read before the plan: the key is what holds if another run appears in between.
    liveKey: schedule.overlap.policy === "skip" ? concurrencyKeyOf(schedule.id) : null,
    concurrencyKey: concurrencyKeyOf(schedule.id),
    concurrencyLimit: schedule.maxConcurrentRuns ?? (schedule.overlap.policy === "allow" ? null : 1),
    retry: schedule.retry,
    timeoutMs: schedule.timeoutMs,
    reason: null,
    by: null,
  }
}

/** The record of one occurrence, or a range of them, that did not become a run. */
export function skipRecordOf(
  schedule: Schedule,
  range: Missed,
  why: { reason: SkipReason; message: string | null },
): NewRun {
  return {
    ...requestOf(schedule),
    id: runIdOf(schedule.id, range.until),
    scheduledFor: range.until,
    triggeredBy: "schedule",
    trigger: triggerOf(schedule, range.until),
    payload: null,
    missed: range.count > 1 || range.from !== range.until ? range : null,
    liveKey: null,
    reason: why.reason,
    message: why.message,
    state: "skipped",
    delayMs: 0,
    notBefore: null,
  }
}

/** `schedule:<cron>`: which trigger it was, in words that a log can be searched for. */
function triggerOf(schedule: Schedule, scheduledFor: Instant): string {
  const timetable = timetableOf(schedule)
  const isBy = (trigger: Trigger) =>
    nextInTimetable({ ...timetable, triggers: [trigger] }, scheduledFor - 1) === scheduledFor
  const trigger = schedule.triggers.length === 1 ? schedule.triggers[0] : schedule.triggers.find(isBy)
  return `schedule:${trigger === undefined ? "@once" : triggerText(trigger)}`
}

export function triggerText(trigger: Trigger): string {
  if (trigger.kind === "cron") return trigger.cron
  if (trigger.kind === "at") return `@at ${formatInstant(trigger.at)}`
  return `@every ${formatDuration(trigger.everyMs).replaceAll(" ", "")}`
}

export function describeTriggers(triggers: readonly Trigger[]): string {
  return triggers.map(triggerText).join(", ")
}
