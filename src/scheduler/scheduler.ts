import type { Duration } from "../core/time/duration.ts"
import type { EventName, Listener } from "../engine/events.ts"
import type { Client } from "./client.ts"
import type { ReconcileReport } from "./declared.ts"
import type { StartOptions } from "./scheduler-options.ts"
import type { WithinTransaction } from "./within.ts"

/** The main object of the library. Fires and works only after `start`. Reads and changes are possible without `start`. */
export interface Scheduler extends Client, AsyncDisposable {
  /** Reconciles the declared schedules, then fires and works. A second call has no effect. */
  start(options?: StartOptions): Promise<void>

  /**
   * Stops gracefully: claims nothing more, gives back the runs that haven't begun at once, and waits up to `timeout` (default 30
   * seconds) for the others. Then aborts the remaining runs and gives them back. Closes the store, and then the tasks that have something to close. Ends at most 3
   * seconds after the timeout, even if the store doesn't answer. A second call has no effect.
   */
  stop(options?: { timeout?: Duration }): Promise<void>

  /**
   * Enqueues runs and changes schedules inside a transaction of the caller, on the database of the store. The changes take
   * effect when the caller commits, and are undone by a rollback.
   */
  within(transaction: unknown): WithinTransaction

  /** Makes the stored schedules of this owner equal to the declared ones. With `dryRun` it only reports what would happen. */
  reconcile(options?: { dryRun?: boolean }): Promise<ReconcileReport>

  /** Adds a listener to an event. Returns a function that removes it. */
  on<Name extends EventName>(event: Name, listener: Listener<Name>): () => void

  /** True between `start` and `stop`. */
  readonly isRunning: boolean
  /** True while at least one run is being performed in this process. */
  readonly isProcessing: boolean
  /** True while the scheduler is running and the last read of the store found nothing to do. */
  readonly isIdle: boolean
}
