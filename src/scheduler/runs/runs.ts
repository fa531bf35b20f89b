import type { Duration } from "../../core/duration.ts"
import type { Json } from "../../core/json.ts"
import type { RunState } from "../../core/run.ts"
import type { Listing } from "../listing.ts"
import type { ManyOptions, ManyReport } from "../many.ts"
import type { Because } from "../schedules/steering-options.ts"
import type { LogLineView, RunSummaryView, RunView } from "../views.ts"
import type { EnqueuedRun } from "./enqueue.ts"
import type { RunQuery, RunSelection } from "./run-options.ts"

/** The runs: looking at them, and stepping in. */
export interface Runs {
  /** Null if there is none. */
  get(id: string): Promise<RunView | null>

  /**
   * Resolves when the run has finished, whatever became of it; null if it hasn't within the time given (30 seconds). While
   * the store is away it goes on trying. Rejects if the store is still away when the time is over.
   */
  wait(id: string, options?: { timeout?: Duration }): Promise<RunView | null>
  /** Of what `enqueue` returned: `details` has the type of what the task returns. */
  wait<Details>(
    enqueued: EnqueuedRun<Details>,
    options?: { timeout?: Duration },
  ): Promise<RunView<Details> | null>

  /** Newest first. */
  list(query?: RunQuery): Listing<RunSummaryView>

  /** How many, by state, each up to 10,000: that number stands for so many or more. */
  count(
    query?: Omit<RunQuery, "since" | "until" | "error" | "limit" | "cursor">,
  ): Promise<Readonly<Record<RunState, number>>>

  /** Final at once. A worker that is performing it hears of it, and can't finish it any more. Of many, those that aren't finished. */
  cancel(id: string, because?: Because): Promise<RunView>
  cancel(which: RunSelection, options?: Because & ManyOptions): Promise<ManyReport>

  /**
   * A failed or cancelled run is tried again, as the same run. With another payload it is another run, for the same occurrence, and
   * that one is returned. Of many, those that failed, unless a state is named.
   */
  retry(id: string, options?: Because & { payload?: Json }): Promise<RunView>
  retry(which: RunSelection, options?: Because & ManyOptions): Promise<ManyReport>

  /** Takes a running run away from its worker and makes it due at once. */
  release(id: string, because?: Because): Promise<RunView>
  release(which: RunSelection, options?: Because & ManyOptions): Promise<ManyReport>

  /** Attempt by attempt, in order. `after` is the last line seen: whoever follows a run asks with it for what came since. */
  logs(
    id: string,
    page?: { after?: Pick<LogLineView, "attempt" | "number">; limit?: number; cursor?: string },
  ): Listing<LogLineView>
}
