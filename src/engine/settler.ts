import { BelfryError } from "../core/errors.ts"
import { isAlreadyMade, type RunChange } from "../core/run/run.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Store, TransitionAnswer, Unstorable } from "../store/store.ts"

/** Changes per call. */
const BATCH = 1_000
/** A change is dropped after this many failed sends. The run's lease then ends, and another worker takes the run. */
const TRIES = 8

/**
 * `cancelled`: the run was cancelled during this attempt. `stale`: the run has changed in another way. Unstorable: the store can't
 * keep the values of the change.
 */
export type Settled = "made" | "cancelled" | "stale" | Unstorable

/**
 * Sends the ends of runs to the store. Only one call is under way at a time, and the next call takes all changes that arrived
 * during it. So a busy worker pays one round trip for many runs, and an idle worker sends at once.
 */
export class Settler {
  readonly #store: Store
  readonly #clock: Clock
  #waiting: Waiting[] = []
  /** The changes of the call under way. */
  #sent: readonly Waiting[] = []
  #isSending = false
  #isOver = false
  readonly #endPauses = new Set<() => void>()

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Number of changes without an answer. */
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

  /** Sends nothing more and rejects every change that has no answer. */
  giveUp(): void {
    this.#isOver = true
    const unanswered = [...this.#sent, ...this.#waiting]
    this.#waiting = []
    for (const { reject } of unanswered) reject(tooLate())
    for (const end of this.#endPauses) end()
  }

  /** Repeats a question that the end of a run depends on, as often as a change would be sent. */
  async withRetries<T>(question: () => Promise<T>): Promise<T> {
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
    // Runs that end in the same turn of the event loop share one call.
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

  /** The answer may have been lost after the change was made. Sending the change again is harmless (law 8). */
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
  if (answer.outcome === "unstorable") return answer
  if (answer.outcome === "held") return "stale"
  if (isAlreadyMade(change, answer)) return "made"
  return answer.state === "cancelled" && answer.attempt === change.ifAttempt ? "cancelled" : "stale"
}
