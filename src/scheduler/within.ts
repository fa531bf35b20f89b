import { BelfryError } from "../core/errors.ts"
import type { Dependencies } from "../core/schedule/dependency-cycles.ts"
import type { Clock } from "../runtime/clock.ts"
import { isTransactional, type Store } from "../store/store.ts"
import { accepted } from "../store/unstorable.ts"
import type { AnyTask, Task } from "../task/task.ts"
import { type EnqueueArguments, type Enqueued, type EnqueueOptions, newRunsFor } from "./runs/enqueue.ts"
import type { Schedules } from "./schedules/schedules.ts"
import { StoredSchedules } from "./schedules/stored-schedules.ts"

/** Operations inside a transaction of the caller. They take effect when the caller commits. */
export class WithinTransaction {
  /** Reads and changes schedules inside the transaction. */
  readonly schedules: Schedules
  readonly #store: Store
  readonly #parts: Parts

  constructor(store: Store, transaction: unknown, parts: Parts) {
    if (!isTransactional(store)) {
      throw new BelfryError(
        "BELFRY_STORE_UNFIT",
        "This store can't work inside a transaction of the program. The PostgreSQL and SQLite stores can.",
      )
    }
    this.#store = store.within(transaction)
    this.#parts = parts
    this.schedules = new StoredSchedules({ ...parts, store: this.#store, isWithin: true })
  }

  /** Creates one run inside the transaction, by the name of its task. */
  enqueue(task: string, options?: EnqueueOptions): Promise<Enqueued>
  /** Creates one run of a task inside the transaction. */
  enqueue<Input>(task: Task<Input, unknown>, ...rest: EnqueueArguments<Input>): Promise<Enqueued>
  async enqueue(task: AnyTask | string, options: EnqueueOptions = {}): Promise<Enqueued> {
    const [enqueued] = await this.#enqueueAll(task, [options])
    return enqueued!
  }

  /** Creates many runs inside the transaction, by the name of their task. */
  enqueueMany(task: string, runs: readonly EnqueueOptions[]): Promise<readonly Enqueued[]>
  /** Creates many runs of a task inside the transaction. */
  enqueueMany<Input>(
    task: Task<Input, unknown>,
    runs: readonly EnqueueOptions<Input>[],
  ): Promise<readonly Enqueued[]>
  enqueueMany(task: AnyTask | string, runs: readonly EnqueueOptions[]): Promise<readonly Enqueued[]> {
    return this.#enqueueAll(task, runs)
  }

  async #enqueueAll(task: AnyTask | string, runs: readonly EnqueueOptions[]): Promise<readonly Enqueued[]> {
    const newRuns = await newRunsFor(task, runs, this.#parts)
    await this.#parts.ready()
    return (await this.#store.enqueue(newRuns)).map(accepted)
  }
}

/** The dependencies of the service layer, except the store. */
export interface Parts {
  readonly clock: Clock
  readonly tasks: ReadonlyMap<string, AnyTask>
  readonly declared: Dependencies
  ready(): Promise<void>
}
