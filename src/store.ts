/** For authors of stores: the contract, the records a store keeps, and the conformance suite. `belfry/store`. */

export type { DstPolicy } from "./core/cron/cron.ts"
export { BelfryError, type ErrorCode } from "./core/errors.ts"
export { type DueFacts, type FirePlan, UNFINISHED_FACTS_MAX } from "./core/planning/plan.ts"
export { unreadableSchedule } from "./core/records/damaged-records.ts"
export type { Document, NewDocument } from "./core/records/document.ts"
export type { JournalEntry, NewJournalEntry } from "./core/records/journal.ts"
export type {
  Counters,
  StatisticsAddition,
  StatisticsBucket,
  StatisticsSpan,
} from "./core/records/statistics.ts"
export { bucketAt } from "./core/records/statistics.ts"
export type { RetryPolicy } from "./core/run/backoff.ts"
export {
  ATTEMPTS_KEPT,
  type Attempt,
  type AttemptOutcome,
  isFinished,
  type Missed,
  type NewRun,
  type Progress,
  type Run,
  type RunChange,
  type RunRef,
  type RunRequest,
  type RunState,
  type SkipReason,
  type TriggeredBy,
  UNFINISHED,
} from "./core/run/run.ts"
export { type RunSummary, SUMMARY_TEXT_MAX, summaryOf } from "./core/run/run-summary.ts"
export {
  type CatchUp,
  concurrencyKeyOf,
  type Dependency,
  type EndState,
  type NewSchedule,
  type OccurrenceOverride,
  type Overlap,
  type Pause,
  type Schedule,
  type ScheduleDefinition,
  type ScheduleProgress,
  type ScheduleTally,
} from "./core/schedule/schedule.ts"
export {
  OVERDUE_AFTER_MS,
  SCHEDULE_STATES,
  type ScheduleState,
  scheduleStateOf,
} from "./core/schedule/schedule-state.ts"
export { afterEnd, isEnd } from "./core/schedule/schedule-tally.ts"
export type { Trigger } from "./core/schedule/timetable.ts"
export type { Instant } from "./core/time/instant.ts"
export type { Json } from "./core/values/json.ts"
export {
  AN_INSTANT,
  aClaim,
  aDocument,
  aHeartbeat,
  aLogLine,
  anEntry,
  aPlan,
  aPruning,
  aRun,
  aRunOf,
  aSchedule,
  aSkip,
  aStoredSchedule,
  aWorker,
  heldRun,
} from "./store/laws/factories.ts"
export {
  type BrokenLaw,
  LAWS,
  type Lab,
  type Law,
  type LawCase,
  type LawName,
  proveLaws,
} from "./store/laws.ts"
export type * from "./store/store.ts"
export { isTransactional, kindOfStore } from "./store/store.ts"
