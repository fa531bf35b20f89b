import { BelfryError } from "../core/errors.ts"
import type { Run, RunChange } from "../core/run.ts"
import { accepted } from "../store/refused.ts"
import { isTransactional, type Store } from "../store/store.ts"

/** A run's end inside the task's own transaction: with the task's writes it is there, without them it isn't. */
export class Completion {
  readonly #run: Run
  readonly #store: Store
  #change: RunChange | null = null

  constructor(run: Run, store: Store) {
    this.#run = run
    this.#store = store
  }

  get wasAsked(): boolean {
    return this.#change !== null
  }

  /** `change` is what the same result would make of the run if the task returned it. */
  async make(transaction: unknown, change: RunChange): Promise<void> {
    if (!isTransactional(this.#store)) {
      throw new BelfryError(
        "BELFRY_STORE_UNFIT",
        "This store has no transactions that a task could write in: return the result instead of calling complete().",
      )
    }
    const answer = accepted((await this.#store.within(transaction).transition([change]))[0]!)
    // Thrown into the task, so that its transaction is rolled back: another attempt has the run, or somebody ended it.
    if (answer.outcome !== "done") {
      throw new BelfryError(
        "BELFRY_RUN_STATE",
        `Run "${this.#run.id}" is no longer this attempt's to complete. Roll the transaction back.`,
      )
    }
    this.#change = change
  }

  /** The end, if it was committed; asked after the task's end. */
  async committed(): Promise<RunChange | null> {
    if (this.#change === null) return null
    const page = { orderBy: "createdAt", after: null, limit: 1 } as const
    const [stored] = await this.#store.findRuns({ ids: [this.#run.id] }, page)
    const isMade = stored?.state === this.#change.state && stored.attempt === this.#run.attempt
    return isMade ? this.#change : null
  }
}
