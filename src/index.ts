/** Belfry: cron, intervals and one-time jobs that fire once per tick across all of a team's processes. */

export type { DstPolicy } from "./core/cron/cron.ts"
export type { Lint, LintCode } from "./core/cron/lint.ts"
export { BelfryError, type ErrorCode } from "./core/errors.ts"
export type {
  PriorityOption,
  RetryOptions,
  ScheduleOptions,
  TriggerOptions,
  When,
} from "./core/options/options.ts"
export type { JournalAction } from "./core/records/journal.ts"
export type { Delivery } from "./core/run/delivery.ts"
export type { AttemptOutcome, RunState, SkipReason, TriggeredBy } from "./core/run/run.ts"
export type { EndState } from "./core/schedule/schedule.ts"
export type { ScheduleProblem } from "./core/schedule/schedule-problems.ts"
export type { ScheduleState } from "./core/schedule/schedule-state.ts"
export { type Duration, parseDuration } from "./core/time/duration.ts"
export type { Json } from "./core/values/json.ts"
export type { StandardSchema } from "./core/values/standard-schema.ts"
export type { Role } from "./engine/engine.ts"
export type { ClaimedWork, EventName, Hooks, Listener, RunEvent } from "./engine/events.ts"
export type { Clock } from "./runtime/clock.ts"
export { jsonLogger, type Logger, silentLogger } from "./runtime/logger.ts"
export type { Client } from "./scheduler/client.ts"
export { createScheduler } from "./scheduler/create-scheduler.ts"
export type { ReconcileReport } from "./scheduler/declared.ts"
export type { Journal, JournalEntryView, JournalQuery } from "./scheduler/journal.ts"
export type { Listing, Page } from "./scheduler/listing.ts"
export type { ManyOptions, ManyReport, Refused, Selection } from "./scheduler/many.ts"
export type { Attention, Overview } from "./scheduler/overview.ts"
export type { Enqueued, EnqueuedRun, EnqueueOptions, RunOptions } from "./scheduler/runs/enqueue.ts"
export type { RunQuery, RunSelection } from "./scheduler/runs/run-options.ts"
export type { Runs } from "./scheduler/runs/runs.ts"
export type { Scheduler } from "./scheduler/scheduler.ts"
export type { SchedulerOptions, StartOptions } from "./scheduler/scheduler-options.ts"
export type { ApplyOptions, ApplyReport, ApplyStep, ScheduleToApply } from "./scheduler/schedules/apply.ts"
export type { BackfillPlan } from "./scheduler/schedules/backfill.ts"
export type { ChangedValue } from "./scheduler/schedules/changed-values.ts"
export type { LedgerEntry, LedgerPage } from "./scheduler/schedules/ledger.ts"
export type { ScheduleLints } from "./scheduler/schedules/list-lints.ts"
export type { OccurrenceView } from "./scheduler/schedules/preview.ts"
export type { ScheduleChanges } from "./scheduler/schedules/schedule-options.ts"
export type { Schedules } from "./scheduler/schedules/schedules.ts"
export type {
  BackfillOptions,
  ChangeReason,
  CreateOptions,
  PauseOptions,
  PutOptions,
  ScheduleQuery,
  ScheduleSelection,
  UpdateOptions,
} from "./scheduler/schedules/steering-options.ts"
export type { TriggerNowOptions, TriggerNowResult } from "./scheduler/schedules/trigger.ts"
export type { SearchResult } from "./scheduler/search.ts"
export type {
  MeasureView,
  RunStatistics,
  StatisticsQuery,
  StatisticsSpanName,
  StatisticsView,
} from "./scheduler/statistics.ts"
export type { TaskView } from "./scheduler/tasks.ts"
export type {
  AttemptView,
  LogLineView,
  RunSummaryView,
  RunView,
  ScheduleView,
  TriggerView,
  WorkerView,
} from "./scheduler/views.ts"
export type { WithinTransaction } from "./scheduler/within.ts"
export type { Store } from "./store/store.ts"
export { memory } from "./stores/memory/memory.ts"
export type { DeclaredOptions, DeclaredSchedule } from "./task/declared-schedule.ts"
export type { DetailsOf, NotStored } from "./task/output.ts"
export { DoNotRetry, RetryAfter } from "./task/retry-errors.ts"
export { type AbortCause, RunAborted } from "./task/run-aborted.ts"
export { type AnyTask, defineTask, type Task, type TaskOptions } from "./task/task.ts"
export type { LastSuccess, RunInfo, RunLogger, TaskContext } from "./task/task-context.ts"
