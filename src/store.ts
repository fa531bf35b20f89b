/** For authors of stores: the contract, the records a store keeps, and the conformance suite. `belfry/store`. */
export type { RetryPolicy } from "./core/backoff.ts"
export type { DstPolicy } from "./core/cron/cron.ts"
export type { Document, NewDocument } from "./core/document.ts"
export { BelfryError, type ErrorCode } from "./core/errors.ts"
export type { Instant } from "./core/instant.ts"
export type { JournalEntry, NewJournalEntry } from "./core/journal.ts"
export type { Json } from "./core/json.ts"
export { type FireFacts, type FirePlan, UNFINISHED_FACTS_MAX } from "./core/plan.ts"
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
} from "./core/run.ts"
export { type RunSummary, SUMMARY_TEXT_MAX, summaryOf } from "./core/run-summary.ts"
export {
  type CatchUp,
  concurrencyKeyOf,
  type Dependency,
  type EndState,
  type OccurrenceOverride,
  type Overlap,
  type Pause,
  type Schedule,
  type ScheduleDefinition,
  type ScheduleProgress,
  type ScheduleTally,
} from "./core/schedule.ts"
export {
  OVERDUE_AFTER_MS,
  SCHEDULE_STATES,
  type ScheduleState,
  scheduleStateOf,
} from "./core/schedule-state.ts"
export { afterEnd, isEnd } from "./core/schedule-tally.ts"
export type {
  Counters,
  StatisticsAddition,
  StatisticsBucket,
  StatisticsSpan,
} from "./core/statistics.ts"
export { bucketAt } from "./core/statistics.ts"
export type { Trigger } from "./core/timetable.ts"
export { unreadableSchedule } from "./core/unreadable.ts"
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
