import type { NewRun } from "../../core/run/run.ts"
import type { EnqueueAnswer, Store } from "../../store/store.ts"

/** A larger batch would make other work in the store wait. */
const BATCH_MAX = 1_000

/** While the store works on one batch, the next is collected and sent. */
const UNDER_WAY_MAX = 2

/**
 * Sends runs that are enqueued at the same time in one batch: a thousand calls in a loop become a few statements. The first
 * batch is sent at once, so a single call takes no longer.
 */
export class EnqueueBatches {
  readonly #store: Store
  #waiting: Waiting[] = []
  #underWay = 0
  #isScheduled = false

  constructor(store: Store) {
    this.#store = store
  }

  async enqueue(run: NewRun): Promise<EnqueueAnswer> {
    const [answer] = await this.#add([run])
    return answer!
  }

  async enqueueMany(runs: readonly NewRun[]): Promise<readonly EnqueueAnswer[]> {
    const slices: Promise<readonly EnqueueAnswer[]>[] = []
    for (let at = 0; at < runs.length; at += BATCH_MAX) slices.push(this.#add(runs.slice(at, at + BATCH_MAX)))
    return (await Promise.all(slices)).flat()
  }

  #add(runs: readonly NewRun[]): Promise<readonly EnqueueAnswer[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ runs, resolve, reject })
      if (this.#isScheduled) return
      this.#isScheduled = true
      // Calls in the same turn of the event loop join this batch.
      queueMicrotask(() => {
        this.#isScheduled = false
        this.#send()
      })
    })
  }

  #send(): void {
    while (this.#waiting.length > 0 && this.#underWay < UNDER_WAY_MAX) {
      const batch = this.#waiting.splice(0, this.#countForOneBatch())
      this.#underWay++
      void this.#deliver(batch).finally(() => {
        this.#underWay--
        this.#send()
      })
    }
  }

  #countForOneBatch(): number {
    let size = 0
    const end = this.#waiting.findIndex(({ runs }) => {
      size += runs.length
      return size > BATCH_MAX
    })
    return end < 0 ? this.#waiting.length : end
  }

  /** Never rejects. The promise of each call gets the answers or the error. */
  async #deliver(batch: readonly Waiting[]): Promise<void> {
    try {
      const answers = await this.#store.enqueue(batch.flatMap(({ runs }) => runs))
      let from = 0
      for (const { runs, resolve } of batch) {
        resolve(answers.slice(from, from + runs.length))
        from += runs.length
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}

/** One call: at most BATCH_MAX runs, so a batch always has room for at least one call. */
interface Waiting {
  readonly runs: readonly NewRun[]
  resolve(answers: readonly EnqueueAnswer[]): void
  reject(error: unknown): void
}
