import { afterNextPlan } from "../core/planning/next-plan.ts"
import { silentForMs } from "../core/records/worker-liveness.ts"
import type { AttemptOutcome, Progress, Run, RunState, TriggeredBy } from "../core/run/run.ts"
import type { RunSummary } from "../core/run/run-summary.ts"
import { isOverridden } from "../core/schedule/reconcile.ts"
import {
  type EndState,
  type OccurrenceOverride,
  type Pause,
  type Schedule,
  type ScheduleDefinition,
  timetableOf,
} from "../core/schedule/schedule.ts"
import { problemsOf, type ScheduleProblem } from "../core/schedule/schedule-problems.ts"
import { type ScheduleState, scheduleStateOf } from "../core/schedule/schedule-state.ts"
import type { Trigger } from "../core/schedule/timetable.ts"
import { timetableInWords } from "../core/schedule/timetable-words.ts"
import { describeTriggers } from "../core/schedule/trigger-text.ts"
import type { UnreadOptions } from "../core/schedule/unread-options.ts"
import type { Instant } from "../core/time/instant.ts"
import type { Json } from "../core/values/json.ts"
import type { LogLevel, StoredLogLine, Worker } from "../store/store.ts"

/** Records as the public API returns them: instants are Dates, and derived values are included. */

export interface ScheduleView extends Omit<ScheduleDefinition, "startsAt" | "endsAt" | "triggers"> {
  readonly id: string
  /** If several states apply, the first in the order of `ScheduleState`. */
  readonly state: ScheduleState
  /** The number that `update` takes as `ifRevision`. */
  readonly revision: number
  /** The triggers in one line, such as `0 8 * * 1-5`. */
  readonly when: string
  /** The triggers in English, in the schedule's time zone: "At 08:00 on Monday through Friday". */
  readonly words: string
  readonly triggers: readonly TriggerView[]
  readonly startsAt: Date | null
  readonly endsAt: Date | null
  /** When the schedule runs next. Occurrences that an operator skipped, or that a pause drops, don't count. Null: never. */
  readonly nextRunAt: Date | null
  readonly lastRunId: string | null
  /** When the last run was created. */
  readonly lastRunAt: Date | null
  /** How and when the most recently ended run ended. That run is not always the one created last. */
  readonly lastState: EndState | null
  readonly lastEndedAt: Date | null
  readonly lastSuccessAt: Date | null
  /** The number of failed runs since the last success. */
  readonly failuresInARow: number
  /** The number of all its runs, including manual and backfilled runs. */
  readonly runCount: number
  /** The number of runs created for occurrences. `maxRuns` limits this number. */
  readonly firedCount: number
  /** Why the schedule can't be planned. Null: it can. */
  readonly lastError: string | null
  /** Why no runs result although the schedule is not paused, disabled or finished. Empty: no problems. */
  readonly problems: readonly ScheduleProblem[]
  readonly finishedAt: Date | null
  readonly paused: { at: Date; until: Date | null; reason: string | null; by: string | null } | null
  readonly overrides: readonly {
    scheduledFor: Date
    dueAt: Date | null
    reason: string | null
    by: string | null
    /** The occurrences of the timetable before this one are passed over. */
    isNext: boolean
  }[]
  /** The schedule is declared in code and was changed by an operator since. */
  readonly isOverridden: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** `offered`: the tasks of the online workers. */
export function scheduleView(stored: Schedule, offered: ReadonlySet<string>, now: Instant): ScheduleView {
  const schedule = afterNextPlan(stored)
  const {
    version: _version,
    coveredUntil: _coveredUntil,
    declaredAs: _declaredAs,
    edits: _edits,
    ...shown
  } = schedule
  return {
    ...shown,
    // From the stored schedule, so that the state agrees with the state filter of lists.
    state: scheduleStateOf(stored, now),
    when: describeTriggers(schedule.triggers),
    words: timetableInWords(timetableOf(schedule)),
    triggers: schedule.triggers.map(triggerView),
    startsAt: dateOf(schedule.startsAt),
    endsAt: dateOf(schedule.endsAt),
    nextRunAt: dateOf(schedule.nextRunAt),
    lastRunAt: dateOf(schedule.lastRunAt),
    lastEndedAt: dateOf(schedule.lastEndedAt),
    lastSuccessAt: dateOf(schedule.lastSuccessAt),
    finishedAt: dateOf(schedule.finishedAt),
    problems: problemsOf({ ...stored, lastError: schedule.lastError }, offered, now),
    paused: schedule.paused === null ? null : pauseView(schedule.paused),
    overrides: schedule.overrides.map(overrideView),
    isOverridden: isOverridden(schedule),
    createdAt: new Date(schedule.createdAt),
    updatedAt: new Date(schedule.updatedAt),
  }
}

export type TriggerView =
  | { readonly kind: "cron"; readonly cron: string; readonly dayMatch: "either" | "both" }
  | { readonly kind: "every"; readonly everyMs: number; readonly anchor: Date | null }
  | { readonly kind: "at"; readonly at: Date }
  | { readonly kind: "unreadable"; readonly why: string; readonly options?: UnreadOptions }

function triggerView(trigger: Trigger): TriggerView {
  if (trigger.kind === "at") return { kind: "at", at: new Date(trigger.at) }
  return trigger.kind === "every" ? { ...trigger, anchor: dateOf(trigger.anchor) } : trigger
}

function pauseView(pause: Pause) {
  return { ...pause, at: new Date(pause.at), until: dateOf(pause.until) }
}

function overrideView({ scheduledFor, dueAt, reason, by, isNext = false }: OccurrenceOverride) {
  return { scheduledFor: new Date(scheduledFor), dueAt: dateOf(dueAt), reason, by, isNext }
}

/** A run in a list, without its large values. `message` and `error` are cut to 200 characters. */
export interface RunSummaryView {
  readonly id: string
  readonly task: string
  readonly state: RunState
  readonly priority: number
  readonly scheduleId: string | null
  readonly scheduledFor: Date | null
  /** The run that this run is a part of. */
  readonly parentId: string | null
  readonly triggeredBy: TriggeredBy
  /** The trigger as text, such as `schedule:0 2 * * *`. */
  readonly trigger: string | null
  /** The other occurrences that this record stands for, or, for a skip of several occurrences, all of them. */
  readonly missed: { from: Date; until: Date; count: number } | null
  /** The number of the newest attempt. It rises with each claim. */
  readonly attempt: number
  /** Attempts that failed. Attempts that were given back or lost don't count. */
  readonly failures: number
  /** Attempts whose worker fell silent after it had confirmed them. */
  readonly lost: number
  readonly workerId: string | null
  readonly createdAt: Date
  /** Pending: when the run may start. Running: when its lease ends. */
  readonly claimableAt: Date | null
  /** When the newest attempt was due. */
  readonly dueAt: Date | null
  readonly startedAt: Date | null
  readonly completedAt: Date | null
  /** Of the newest attempt. */
  readonly durationMs: number | null
  readonly success: boolean | null
  readonly message: string | null
  readonly error: string | null
  readonly reason: string | null
  readonly by: string | null
  readonly progress: Progress | null
}

/** A complete run. `Details` is the type of the task's result, if known. */
export interface RunView<Details = Json> extends RunSummaryView {
  readonly payload: Json
  /** Null until the run has finished. For a failed run: the details of its error, whatever the type of the result. */
  readonly details: Details | null
  readonly attempts: readonly AttemptView[]
}

export interface AttemptView {
  readonly attempt: number
  readonly workerId: string
  readonly dueAt: Date
  readonly startedAt: Date
  readonly endedAt: Date
  readonly durationMs: number
  readonly outcome: AttemptOutcome
  readonly error: string | null
}

export function runView(run: Run): RunView {
  return {
    ...runSummaryView(run),
    payload: run.payload,
    details: run.details,
    attempts: run.attempts.map((attempt) => ({
      ...attempt,
      dueAt: new Date(attempt.dueAt),
      startedAt: new Date(attempt.startedAt),
      endedAt: new Date(attempt.endedAt),
      durationMs: attempt.endedAt - attempt.startedAt,
    })),
  }
}

export function runSummaryView(run: RunSummary): RunSummaryView {
  const { startedAt, completedAt, missed } = run
  return {
    id: run.id,
    task: run.task,
    state: run.state,
    priority: run.priority,
    scheduleId: run.scheduleId,
    scheduledFor: dateOf(run.scheduledFor),
    parentId: run.parentId,
    triggeredBy: run.triggeredBy,
    trigger: run.trigger,
    missed:
      missed === null ? null : { ...missed, from: new Date(missed.from), until: new Date(missed.until) },
    attempt: run.attempt,
    failures: run.failures,
    lost: run.lost,
    workerId: run.workerId,
    createdAt: new Date(run.createdAt),
    claimableAt: dateOf(run.claimableAt),
    dueAt: dateOf(run.dueAt),
    startedAt: dateOf(startedAt),
    completedAt: dateOf(completedAt),
    durationMs: startedAt === null || completedAt === null ? null : completedAt - startedAt,
    success: run.state === "succeeded" ? true : run.state === "failed" ? false : null,
    message: run.message,
    error: run.error,
    reason: run.reason,
    by: run.by,
    progress: run.progress,
  }
}

export interface LogLineView {
  readonly attempt: number
  /** Counts from 1 within the attempt. */
  readonly number: number
  readonly at: Date
  readonly level: LogLevel
  readonly message: string
  readonly fields: Json
}

export function logLineView(line: StoredLogLine): LogLineView {
  return { ...line, at: new Date(line.at) }
}

/** A process. Its `roles` are `fire`, `work` or both. A process that only fires has no tasks and no slots. */
export interface WorkerView extends Omit<Worker, "startedAt" | "heartbeatAt" | "expectedBy"> {
  readonly startedAt: Date
  readonly heartbeatAt: Date
  /** When the process announced its next heartbeat at the latest. */
  readonly expectedBy: Date
  /** The time since the last heartbeat, if the next one is overdue. Null: the process is online. */
  readonly silentForMs: number | null
}

export function workerView(worker: Worker, now: Instant): WorkerView {
  return {
    ...worker,
    startedAt: new Date(worker.startedAt),
    heartbeatAt: new Date(worker.heartbeatAt),
    expectedBy: new Date(worker.expectedBy),
    silentForMs: silentForMs(worker, now),
  }
}

export function dateOf(instant: Instant | null): Date | null {
  return instant === null ? null : new Date(instant)
}
