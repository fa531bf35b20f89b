import type { RunState } from "../../core/run/run.ts"
import type { Duration } from "../../core/time/duration.ts"
import type { Json } from "../../core/values/json.ts"
import type { Listing } from "../listing.ts"
import type { ManyOptions, ManyReport } from "../many.ts"
import type { ChangeReason } from "../schedules/steering-options.ts"
import type { LogLineView, RunSummaryView, RunView } from "../views.ts"
import type { EnqueuedRun } from "./enqueue.ts"
import type { RunQuery, RunSelection } from "./run-options.ts"

/** Reads runs and changes them. */
export interface Runs {
  /** Returns the run. Null: it doesn't exist. */
  get(id: string): Promise<RunView | null>

  /**
   * Waits until the run has finished, in any state. Null: it has not finished within `timeout` (default 30 seconds). While the
   * store is unavailable, `wait` retries. Rejects if the store is still unavailable at the timeout. The first call makes this
   * process listen for the store's hints until `stop`, if it isn't started.
   */
  wait(id: string, options?: { timeout?: Duration }): Promise<RunView | null>
  /** Takes the result of `enqueue`: `details` then has the type of the task's result. */
  wait<Details>(
    enqueued: EnqueuedRun<Details>,
    options?: { timeout?: Duration },
  ): Promise<RunView<Details> | null>

  /** Lists runs, newest first. */
  list(query?: RunQuery): Listing<RunSummaryView>

  /** Counts runs by state. Counting stops at 10,000, so 10,000 means 10,000 or more. */
  count(
    query?: Omit<RunQuery, "since" | "until" | "error" | "limit" | "cursor">,
  ): Promise<Readonly<Record<RunState, number>>>

  /**
   * Cancels the run at once. A worker that is performing the run is notified and can no longer finish it. With a filter: the
   * unfinished runs.
   */
  cancel(id: string, changeReason?: ChangeReason): Promise<RunView>
  /** Cancels many runs. */
  cancel(which: RunSelection, options?: ChangeReason & ManyOptions): Promise<ManyReport>

  /**
   * Retries a failed or cancelled run, as the same run. With another payload a new run for the same occurrence is created and
   * returned. With a filter that has no `state`: the failed runs.
   */
  retry(id: string, options?: ChangeReason & { payload?: Json }): Promise<RunView>
  /** Retries many runs. */
  retry(which: RunSelection, options?: ChangeReason & ManyOptions): Promise<ManyReport>

  /** Takes a running run away from its worker and makes the run claimable at once. */
  release(id: string, changeReason?: ChangeReason): Promise<RunView>
  /** Releases many runs. */
  release(which: RunSelection, options?: ChangeReason & ManyOptions): Promise<ManyReport>

  /** Lists the log lines in order, attempt by attempt. `after` is the last line already read; use it to follow a run. */
  logs(
    id: string,
    page?: { after?: Pick<LogLineView, "attempt" | "number">; limit?: number; cursor?: string },
  ): Listing<LogLineView>
}
