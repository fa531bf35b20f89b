import type { Lint } from "../../core/cron/lint.ts"
import type { When } from "../../core/options/options.ts"
import type { ScheduleCounts } from "../../core/schedule/schedule-state.ts"
import type { Listing } from "../listing.ts"
import type { ManyOptions, ManyReport } from "../many.ts"
import type { ScheduleView } from "../views.ts"
import type { ApplyOptions, ApplyReport, ScheduleToApply } from "./apply.ts"
import type { BackfillPlan } from "./backfill.ts"
import type { LedgerEntry, LedgerPage } from "./ledger.ts"
import type { ScheduleLints } from "./list-lints.ts"
import type { OccurrenceView } from "./preview.ts"
import type { ScheduleChanges } from "./schedule-options.ts"
import type {
  BackfillOptions,
  ChangeReason,
  CreateOptions,
  PauseOptions,
  PutOptions,
  ScheduleQuery,
  ScheduleSelection,
  UpdateOptions,
} from "./steering-options.ts"
import type { TriggerNowOptions, TriggerNowResult } from "./trigger.ts"

/** Reads schedules and changes them. */
export interface Schedules {
  /**
   * Creates a schedule. Fails if the id is already in use. Fires nothing before the first occurrence, except with
   * `startImmediately`.
   */
  create<Input>(id: string, options: CreateOptions<Input>, changeReason?: ChangeReason): Promise<ScheduleView>

  /**
   * Creates or replaces a schedule. An option that is not given gets its default. The next occurrence moves only if the
   * timetable changes. `startImmediately` and `paused` have an effect only on creation. With `ifRevision` the schedule is
   * replaced only if it is at that revision. With `dryRun` nothing is changed.
   */
  put<Input>(id: string, options: CreateOptions<Input>, conditions?: PutOptions): Promise<ScheduleView>

  /** Returns the schedule. Null: it doesn't exist. */
  get(id: string): Promise<ScheduleView | null>

  /** Lists schedules by id, by next run or by last run. */
  list(query?: ScheduleQuery): Listing<ScheduleView>

  /** Counts schedules by state. Counting stops at 10,000, so 10,000 means 10,000 or more. */
  count(query?: Omit<ScheduleQuery, "order" | "limit" | "cursor">): Promise<Readonly<ScheduleCounts>>

  /** Changes only the given options. The next occurrence moves only if the timetable changes. With `dryRun` nothing is changed. */
  update(id: string, changes: ScheduleChanges, conditions: UpdateOptions): Promise<ScheduleView>

  /** Deletes the schedule and keeps its runs. True: the schedule existed. */
  delete(id: string, changeReason?: ChangeReason): Promise<boolean>
  /** Deletes many schedules. */
  delete(which: ScheduleSelection, options?: ChangeReason & ManyOptions): Promise<ManyReport>

  /** Pauses the schedule: drops occurrences until `resume`, or until the given time. The dropped interval is recorded. */
  pause(id: string, options?: PauseOptions): Promise<ScheduleView>
  /** Pauses many schedules. */
  pause(which: ScheduleSelection, options?: PauseOptions & ManyOptions): Promise<ManyReport>

  /**
   * Resumes the schedule with the occurrences after now. If the last occurrence fell into the pause and the schedule is removed
   * when finished, it is returned as finished. With a filter: the paused schedules.
   */
  resume(id: string, changeReason?: ChangeReason): Promise<ScheduleView>
  /** Resumes many schedules. */
  resume(which: ScheduleSelection, options?: ChangeReason & ManyOptions): Promise<ManyReport>

  /** Creates one run now. The occurrences of the schedule stay as they are; with `insteadOfNext` the next one is skipped. */
  trigger(id: string, options?: TriggerNowOptions): Promise<TriggerNowResult>

  /** Sets the time of the next occurrence; the timetable continues after it. The occurrences passed over are recorded. */
  reschedule(id: string, to: When, changeReason?: ChangeReason): Promise<ScheduleView>

  /** Skips one future occurrence. Default: the next one. */
  skip(id: string, scheduledFor?: When, changeReason?: ChangeReason): Promise<ScheduleView>

  /** Moves one occurrence to a time between its neighbours. The id of its run stays the same. */
  move(id: string, scheduledFor: When, to: When, changeReason?: ChangeReason): Promise<ScheduleView>

  /** Undoes a skip or a move. */
  restore(id: string, scheduledFor: When, changeReason?: ChangeReason): Promise<ScheduleView>

  /** Returns the next occurrences, computed by the function that fires them. With `after`, the occurrences after that time. */
  preview(id: string, count?: number, options?: { after?: When }): Promise<readonly OccurrenceView[]>

  /** Returns likely mistakes in the schedule, found from its expression and its recent runs. */
  lints(id: string): Promise<readonly Lint[]>

  /** Lists the active schedules that have lints, each with its lints, by next run. */
  listLints(page?: { limit?: number; cursor?: string }): Listing<ScheduleLints>

  /** Lists past occurrences, newest first, each with its outcome and reason. */
  occurrences(id: string, page?: LedgerPage): Listing<LedgerEntry>

  /** Plans a backfill. Changes nothing. */
  planBackfill(id: string, options: BackfillOptions): Promise<BackfillPlan>

  /** Executes a plan. Throws if the plan would be different now. Returns the ids of the created runs. */
  backfill(
    plan: BackfillPlan,
    options?: { concurrency?: number; by?: string; onProgress?: (done: number, total: number) => void },
  ): Promise<readonly string[]>

  /**
   * Creates or replaces each schedule as `put` does. With `prune`, also deletes the schedules with that tag that are not
   * listed. All steps are tried without changes first: if one would be refused, nothing is changed. Schedules declared in code
   * are not changed.
   */
  apply(schedules: readonly ScheduleToApply[], options?: ApplyOptions): Promise<ApplyReport>
}
