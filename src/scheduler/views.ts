import type { Instant } from "../core/instant.ts"
import type { Json } from "../core/json.ts"
import { silentForMs } from "../core/liveness.ts"
import { describeTriggers } from "../core/new-run.ts"
import { afterNextPlan } from "../core/next-plan.ts"
import { isOverridden } from "../core/reconcile.ts"
import type { AttemptOutcome, Progress, Run, RunState, TriggeredBy } from "../core/run.ts"
import type { RunSummary } from "../core/run-summary.ts"
import {
  type EndState,
  type OccurrenceOverride,
  type Pause,
  type Schedule,
  type ScheduleDefinition,
  timetableOf,
} from "../core/schedule.ts"
import { problemsOf, type ScheduleProblem } from "../core/schedule-problems.ts"
import { type ScheduleState, scheduleStateOf } from "../core/schedule-state.ts"
import type { Trigger } from "../core/timetable.ts"
import { timetableInWords } from "../core/timetable-words.ts"
import type { UnreadOptions } from "../core/unread-options.ts"
import type { LogLevel, StoredLogLine, Worker } from "../store/store.ts"

/** Records as users see them: instants are Dates, and what can be derived is there to read. */

export interface ScheduleView extends Omit<ScheduleDefinition, "startsAt" | "endsAt" | "triggers"> {
  readonly id: string
  /** What has to be known of it first: the first of `SCHEDULE_STATES` that is true of it. */
  readonly state: ScheduleState
  /** What an update has to name. */
  readonly revision: number
  /** The triggers in one line, such as `0 8 * * 1-5`. */
  readonly when: string
  /** The same for people: "At 08:00 on Monday through Friday", in the schedule's zone. */
  readonly words: string
  readonly triggers: readonly TriggerView[]
  readonly startsAt: Date | null
  readonly endsAt: Date | null
  /** When it runs next, past those that an operator left out; null when nothing more will be. */
  readonly nextRunAt: Date | null
  readonly lastRunId: string | null
  /** When it was created. */
  readonly lastRunAt: Date | null
  /** How the run that ended last did so, and when. It needn't be the one that was created last. */
  readonly lastState: EndState | null
  readonly lastEndedAt: Date | null
  readonly lastSuccessAt: Date | null
  /** How many have failed since one succeeded. */
  readonly failuresInARow: number
  /** All its runs, also those by hand and of backfills. */
  readonly runCount: number
  /** Those of its occurrences: what `maxRuns` is about. */
  readonly firedCount: number
  /** Why it can't be planned, if it can't. */
  readonly lastError: string | null
  /** Why nothing comes of it, though it is neither paused, disabled nor finished: empty if all is well. */
  readonly problems: readonly ScheduleProblem[]
  readonly finishedAt: Date | null
  readonly paused: { at: Date; until: Date | null; reason: string | null; by: string | null } | null
  readonly overrides: readonly {
    scheduledFor: Date
    dueAt: Date | null
    reason: string | null
    by: string | null
    /** What the timetable has before it is passed over. */
    isNext: boolean
  }[]
  /** Code declares it, and somebody changed it by hand since. */
  readonly isOverridden: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** `offered`: the tasks of the workers that are online. */
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
    // As lists find it: by what is stored.
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
    problems: problemsOf(stored, offered, now),
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

/** A run as a list shows it: without what may be large. Of its message and its error, the first 200 characters. */
export interface RunSummaryView {
  readonly id: string
  readonly task: string
  readonly state: RunState
  readonly priority: number
  readonly scheduleId: string | null
  readonly scheduledFor: Date | null
  /** The run that this one is a part of. */
  readonly parentId: string | null
  readonly triggeredBy: TriggeredBy
  readonly trigger: string | null
  readonly missed: { from: Date; until: Date; count: number } | null
  readonly attempt: number
  readonly failures: number
  readonly lost: number
  readonly workerId: string | null
  readonly createdAt: Date
  /** Pending: when it may start. Running: when its lease ends. */
  readonly claimableAt: Date | null
  /** When its newest attempt was due. */
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

/** A whole run. `Details`: what its task returns, where that is known. */
export interface RunView<Details = Json> extends RunSummaryView {
  readonly payload: Json
  /** Null before it has finished. A run that failed has what its error said. */
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
  /** From 1, rising, within its attempt. */
  readonly number: number
  readonly at: Date
  readonly level: LogLevel
  readonly message: string
  readonly fields: Json
}

export function logLineView(line: StoredLogLine): LogLineView {
  return { ...line, at: new Date(line.at) }
}

export interface WorkerView extends Omit<Worker, "startedAt" | "heartbeatAt" | "expectedBy"> {
  readonly startedAt: Date
  readonly heartbeatAt: Date
  /** By when it said that its next heartbeat would come. */
  readonly expectedBy: Date
  /** Since its last heartbeat, once the next one should have come; null while it counts as online. */
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
