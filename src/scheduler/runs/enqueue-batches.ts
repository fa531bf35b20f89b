import type { NewRun } from "../../core/run.ts"
import type { EnqueueAnswer, Store } from "../../store/store.ts"

/** More in one call would keep others waiting. */
const BATCH_MAX = 1_000

/** While a store works on one, the next is put together and sent. */
const UNDER_WAY_MAX = 2

/**
 * Runs that are enqueued at the same time travel together: a thousand calls in a loop are a few statements. The first one is sent at
 * once, so a single call takes no longer.
 */
export class EnqueueBatches {
  readonly #store: Store
  #waiting: Waiting[] = []
  #underWay = 0
  #isWoken = false

  constructor(store: Store) {
    this.#store = store
  }

  enqueue(run: NewRun): Promise<EnqueueAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ run, resolve, reject })
      if (this.#isWoken) return
      this.#isWoken = true
      // What else is asked for in this very moment comes along.
      queueMicrotask(() => {
        this.#isWoken = false
        this.#send()
      })
    })
  }

  #send(): void {
    while (this.#waiting.length > 0 && this.#underWay < UNDER_WAY_MAX) {
      const batch = this.#waiting.slice(0, BATCH_MAX)
      this.#waiting = this.#waiting.slice(BATCH_MAX)
      this.#underWay++
      void this.#deliver(batch).finally(() => {
        this.#underWay--
        this.#send()
      })
    }
  }

  /** Never rejects: each of its runs is told. */
  async #deliver(batch: readonly Waiting[]): Promise<void> {
    try {
      const answers = await this.#store.enqueue(batch.map(({ run }) => run))
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index]!)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}

interface Waiting {
  readonly run: NewRun
  resolve(answer: EnqueueAnswer): void
  reject(error: unknown): void
}
