import type { Dependencies } from "../core/dependency-cycles.ts"
import { BelfryError } from "../core/errors.ts"
import type { Clock } from "../runtime/clock.ts"
import { accepted } from "../store/refused.ts"
import { isTransactional, type Store } from "../store/store.ts"
import type { AnyTask, Task } from "../task/task.ts"
import { type EnqueueArguments, type Enqueued, type EnqueueOptions, newRunFor } from "./enqueue.ts"
import { Schedules } from "./schedules.ts"

/** What can be done inside a transaction of the caller's own: it is there with their commit, or not at all. */
export class WithinTransaction {
  readonly schedules: Schedules
  readonly #store: Store
  readonly #parts: Parts

  constructor(store: Store, transaction: unknown, parts: Parts) {
    if (!isTransactional(store)) {
      throw new BelfryError(
        "BELFRY_STORE_UNFIT",
        "This store has no transactions that a program could share.",
      )
    }
    this.#store = store.within(transaction)
    this.#parts = parts
    this.schedules = new Schedules({ ...parts, store: this.#store, isWithin: true })
  }

  enqueue<Input>(task: Task<Input, unknown>, ...rest: EnqueueArguments<Input>): Promise<Enqueued>
  enqueue(task: string, payload?: unknown, options?: EnqueueOptions): Promise<Enqueued>
  async enqueue(task: AnyTask | string, payload?: unknown, options: EnqueueOptions = {}): Promise<Enqueued> {
    await this.#parts.ready()
    return enqueueOne(this.#store, this.#parts, task, payload, options)
  }
}

/** What the service layer is made of, beside its store. */
export interface Parts {
  readonly clock: Clock
  readonly tasks: ReadonlyMap<string, AnyTask>
  readonly declared: Dependencies
  ready(): Promise<void>
}

/** Checked by the task's schema where this process knows the task. */
export async function enqueueOne(
  store: Store,
  { tasks, clock }: Pick<Parts, "tasks" | "clock">,
  task: AnyTask | string,
  payload: unknown,
  options: EnqueueOptions,
): Promise<Enqueued> {
  const run = await newRunFor(task, { payload, options, clock, tasks })
  const [answer] = await store.enqueue([run])
  return accepted(answer!)
}
