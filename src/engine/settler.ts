import { BelfryError } from "../core/errors.ts"
import { isAlreadyMade, type RunChange } from "../core/run.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Refused, Store, TransitionAnswer } from "../store/store.ts"

/** Changes that one call carries. */
const BATCH = 1_000
/** A change that can't be stored for this long is dropped: its lease ends, and another worker takes the run. */
const TRIES = 8

/**
 * `cancelled`: somebody cancelled the run while this attempt performed it. `stale`: the run has moved on otherwise. Refused: the
 * store can't keep what the change says.
 */
export type Settled = "made" | "cancelled" | "stale" | Refused

/**
 * Sends the ends of runs to the store. One call is under way at a time and takes everything that gathered meanwhile, so
 * a busy worker pays one round trip for many runs and an idle one waits for nobody.
 */
export class Settler {
  readonly #store: Store
  readonly #clock: Clock
  #waiting: Waiting[] = []
  /** Under way. */
  #sent: readonly Waiting[] = []
  #isSending = false
  #isOver = false
  readonly #endPauses = new Set<() => void>()

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** How many changes have no answer yet. */
  get size(): number {
    return this.#waiting.length + this.#sent.length
  }

  settle(change: RunChange): Promise<Settled> {
    if (this.#isOver) return Promise.reject(tooLate())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject, tries: 0 })
      void this.#send()
    })
  }

  /** Nothing is sent from now on, and nobody waits for an answer any more. */
  giveUp(): void {
    this.#isOver = true
    const given = [...this.#sent, ...this.#waiting]
    this.#waiting = []
    for (const { reject } of given) reject(tooLate())
    for (const end of this.#endPauses) end()
  }

  /** Asks the store something that an end depends on, as often as a change would be sent. */
  async insist<T>(question: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      if (this.#isOver) throw tooLate()
      try {
        return await question()
      } catch (error) {
        if (tries >= TRIES) throw error
        await this.#pauseAfter(tries)
      }
    }
  }

  async #send(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    // Runs that end in the same turn of the event loop travel together.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH)
      this.#sent = batch
      try {
        const answers = await this.#store.transition(batch.map(({ change }) => change))
        this.#sent = []
        batch.forEach(({ change, resolve }, index) => {
          resolve(settledBy(change, answers[index]!))
        })
      } catch (error) {
        this.#sent = []
        if (!this.#isOver) await this.#sendAgain(batch, error)
      }
    }
    this.#isSending = false
  }

  /** The answer may have been lost after the change was made; sending it again is harmless (law 8). */
  async #sendAgain(batch: readonly Waiting[], error: unknown): Promise<void> {
    const again: Waiting[] = []
    for (const waiting of batch) {
      if (waiting.tries + 1 >= TRIES) waiting.reject(error)
      else again.push({ ...waiting, tries: waiting.tries + 1 })
    }
    this.#waiting.unshift(...again)
    const tries = again[0]?.tries ?? 0
    if (again.length > 0) await this.#pauseAfter(tries)
  }

  #pauseAfter(tries: number): Promise<void> {
    const delayMs = Math.min(100 * 2 ** tries, 5_000) * (1 - 0.25 * this.#clock.random())
    return new Promise((resolve) => {
      const end = () => {
        cancelTimer()
        this.#endPauses.delete(end)
        resolve()
      }
      const cancelTimer = this.#clock.setTimer(delayMs, end)
      this.#endPauses.add(end)
    })
  }
}

interface Waiting {
  readonly change: RunChange
  readonly tries: number
  resolve(settled: Settled): void
  reject(error: unknown): void
}

function tooLate(): BelfryError {
  return new BelfryError(
    "BELFRY_STORE_UNAVAILABLE",
    "The store had not answered when the scheduler's stop ended.",
  )
}

function settledBy(change: RunChange, answer: TransitionAnswer): Settled {
  if (answer.outcome === "done") return "made"
  if (answer.outcome === "refused") return answer
  if (answer.outcome === "held") return "stale"
  if (isAlreadyMade(change, answer)) return "made"
  return answer.state === "cancelled" && answer.attempt === change.ifAttempt ? "cancelled" : "stale"
}
