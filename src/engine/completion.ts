import { BelfryError } from "../core/errors.ts"
import type { Run, RunChange } from "../core/run/run.ts"
import { isTransactional, type Store } from "../store/store.ts"
import { accepted } from "../store/unstorable.ts"

/** A run's end inside the task's own transaction: it is committed or rolled back together with the task's writes. */
export class Completion {
  readonly #run: Run
  readonly #store: Store
  #change: RunChange | null = null

  constructor(run: Run, store: Store) {
    this.#run = run
    this.#store = store
  }

  get wasCalled(): boolean {
    return this.#change !== null
  }

  /** `change` is the change that the same result would cause if the task returned it. */
  async make(transaction: unknown, change: RunChange): Promise<void> {
    if (!isTransactional(this.#store)) {
      throw new BelfryError(
        "BELFRY_STORE_UNFIT",
        "This store can't complete a run inside a transaction of the task. Return the result instead of calling complete().",
      )
    }
    const answer = accepted((await this.#store.within(transaction).transition([change]))[0]!)
    // Another attempt holds the run, or it has been ended. The error makes the task roll its transaction back.
    if (answer.outcome !== "done") {
      throw new BelfryError(
        "BELFRY_RUN_STATE",
        `Run "${this.#run.id}" is no longer held by this attempt. Roll the transaction back.`,
      )
    }
    this.#change = change
  }

  /** The change, if it was committed. Called after the task has ended. */
  async committed(): Promise<RunChange | null> {
    if (this.#change === null) return null
    const page = { orderBy: "createdAt", after: null, limit: 1 } as const
    const [stored] = await this.#store.findRuns({ ids: [this.#run.id] }, page)
    const isMade = stored?.state === this.#change.state && stored.attempt === this.#run.attempt
    return isMade ? this.#change : null
  }
}
