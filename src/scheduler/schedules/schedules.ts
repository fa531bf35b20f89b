import type { Lint } from "../../core/cron/lint.ts"
import type { When } from "../../core/options.ts"
import type { ScheduleCounts } from "../../core/schedule-state.ts"
import type { Listing } from "../listing.ts"
import type { ManyOptions, ManyReport } from "../many.ts"
import type { ScheduleView } from "../views.ts"
import type { ApplyOptions, ApplyReport, ScheduleToApply } from "./apply.ts"
import type { BackfillPlan } from "./backfill.ts"
import type { LedgerEntry, LedgerPage } from "./ledger.ts"
import type { OccurrenceView } from "./preview.ts"
import type { ScheduleChanges } from "./schedule-options.ts"
import type {
  BackfillOptions,
  Because,
  CreateOptions,
  PauseOptions,
  ScheduleQuery,
  ScheduleSelection,
} from "./steering-options.ts"
import type { TriggerNowOptions, TriggerNowResult } from "./trigger.ts"

/** The schedules: everything that can be done to them and asked of them. */
export interface Schedules {
  /** Fails if the id is taken. Nothing fires before the first occurrence, unless `startImmediately`. */
  create<Input>(id: string, options: CreateOptions<Input>, because?: Because): Promise<ScheduleView>

  /**
   * Creates it, or makes it what is said here: an option that isn't named is as if it had never been set. The next occurrence moves
   * only if it is timed otherwise. `startImmediately` and `paused` count only when it is created. With `ifRevision` it is replaced
   * only if it is at that revision.
   */
  put<Input>(
    id: string,
    options: CreateOptions<Input>,
    based?: Because & { ifRevision?: number },
  ): Promise<ScheduleView>

  /** Null if there is none. */
  get(id: string): Promise<ScheduleView | null>

  /** By id, or by when they run next or ran last. */
  list(query?: ScheduleQuery): Listing<ScheduleView>

  /** How many, by state, each up to 10,000: that number stands for so many or more. */
  count(query?: Omit<ScheduleQuery, "order" | "limit" | "cursor">): Promise<Readonly<ScheduleCounts>>

  /** Changes only what is named; the next occurrence moves only if what is changed says when. */
  update(id: string, changes: ScheduleChanges, based: Because & { ifRevision: number }): Promise<ScheduleView>

  /** True if it was there. Its runs stay. */
  delete(id: string, because?: Because): Promise<boolean>
  delete(which: ScheduleSelection, options?: Because & ManyOptions): Promise<ManyReport>

  /** Drops occurrences until it is resumed, or until the time given; the interval is recorded. */
  pause(id: string, options?: PauseOptions): Promise<ScheduleView>
  pause(which: ScheduleSelection, options?: PauseOptions & ManyOptions): Promise<ManyReport>

  /**
   * On from now. One whose last occurrence fell into the pause, and that is removed when it has finished, is returned as finished.
   * Of many, those that are paused.
   */
  resume(id: string, because?: Because): Promise<ScheduleView>
  resume(which: ScheduleSelection, options?: Because & ManyOptions): Promise<ManyReport>

  /** One run, now; the next occurrence is untouched. */
  trigger(id: string, options?: TriggerNowOptions): Promise<TriggerNowResult>

  /** The next occurrence is at that time, then on from there; those passed over are recorded. */
  reschedule(id: string, to: When, because?: Because): Promise<ScheduleView>

  /** Leaves out one occurrence to come: the next unless said. */
  skip(id: string, scheduledFor?: When, because?: Because): Promise<ScheduleView>

  /** Another time for one occurrence, between its neighbours; it keeps its identity. */
  move(id: string, scheduledFor: When, to: When, because?: Because): Promise<ScheduleView>

  /** Takes back a skip or a move. */
  restore(id: string, scheduledFor: When, because?: Because): Promise<ScheduleView>

  /** The next occurrences, by the same function that fires them; with `after`, those after that time. */
  preview(id: string, count?: number, options?: { after?: When }): Promise<readonly OccurrenceView[]>

  /** What may not be meant about it, by its expression and by how its runs go. */
  lints(id: string): Promise<readonly Lint[]>

  /** Past occurrences, newest first, each with what became of it and why. */
  occurrences(id: string, page?: LedgerPage): Listing<LedgerEntry>

  /** What a backfill would do. Changes nothing. */
  planBackfill(id: string, options: BackfillOptions): Promise<BackfillPlan>

  /** Does what was planned, or refuses if it would now be something else. Returns the ids of the runs created. */
  backfill(
    plan: BackfillPlan,
    options?: { concurrency?: number; by?: string; onProgress?: (done: number, total: number) => void },
  ): Promise<readonly string[]>

  /**
   * Makes the schedules what is said here, each as `put` would; with `prune`, also deletes those of that tag that aren't named. All of
   * it is rehearsed first: if a step would be refused, nothing is done. Schedules that code declares are left alone.
   */
  apply(schedules: readonly ScheduleToApply[], options?: ApplyOptions): Promise<ApplyReport>
}
