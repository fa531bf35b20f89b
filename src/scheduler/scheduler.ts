import type { Duration } from "../core/duration.ts"
import type { EventName, Listener } from "../engine/events.ts"
import type { Client } from "./client.ts"
import type { ReconcileReport } from "./declared.ts"
import type { StartOptions } from "./scheduler-options.ts"
import type { WithinTransaction } from "./within.ts"

/** The object users hold. Nothing happens before `start`; a process that never starts may still enqueue and ask. */
export interface Scheduler extends Client, AsyncDisposable {
  /** Reconciles what is declared, then fires and works. Starting twice is starting once. */
  start(options?: StartOptions): Promise<void>

  /**
   * Takes nothing new, waits for what is running up to the time given (30 seconds unless said), then aborts the rest and
   * gives it back at once. Closes the store, and then the tasks that have something to close. Ends at most 3 seconds after that
   * time, whether or not the store answers. Stopping twice is stopping once.
   */
  stop(options?: { timeout?: Duration }): Promise<void>

  /**
   * Enqueues and changes schedules inside a transaction of yours, on the database that the store is in: what is done through
   * it comes with your commit, or not at all.
   */
  within(transaction: unknown): WithinTransaction

  /** Makes the store's schedules of this owner those declared; with `dryRun`, only says what would happen. */
  reconcile(options?: { dryRun?: boolean }): Promise<ReconcileReport>

  /** Listens to what a hook of that name is told. Returns how to stop listening. */
  on<Name extends EventName>(event: Name, listener: Listener<Name>): () => void

  /** Between `start` and `stop`. */
  readonly isRunning: boolean
  /** At least one run is being performed here. */
  readonly isProcessing: boolean
  /** Running, and the last look found nothing to do. */
  readonly isIdle: boolean
}
