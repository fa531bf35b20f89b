import type { Clock } from "../../../src/runtime/clock.ts"
import { systemClock } from "../../../src/runtime/clock.ts"

/** Leases, polls and deadlines are longer. */
const PAUSE_MAX_MS = 1_000

/**
 * A clock that a test moves by hand. Timers of more than a second ring when the test has moved it far enough, and never by
 * themselves. Shorter ones are pauses between two tries, and end in real time.
 */
export class HandClock implements Clock {
  #movedMs = 0
  readonly #held = new Set<HeldTimer>()
  #pauses = 0

  readonly now = () => systemClock.now()
  readonly monotonic = () => this.#movedMs
  readonly random = () => 0.5
  readonly newId = () => systemClock.newId()

  readonly setTimer = (delayMs: number, callback: () => void): (() => void) => {
    if (delayMs <= PAUSE_MAX_MS) return this.#setPause(delayMs, callback)
    const timer = { at: this.#movedMs + delayMs, callback }
    this.#held.add(timer)
    return () => void this.#held.delete(timer)
  }

  /** How many timers wait to be rung. */
  get held(): number {
    return this.#held.size
  }

  /** Whether no pause is under way. */
  get isWithoutPauses(): boolean {
    return this.#pauses === 0
  }

  /** Moves on, and rings what is due by then. */
  advance(ms: number): void {
    this.#movedMs += ms
    for (const timer of [...this.#held].filter(({ at }) => at <= this.#movedMs)) {
      // One that rings may call off another.
      if (this.#held.delete(timer)) timer.callback()
    }
  }

  #setPause(delayMs: number, callback: () => void): () => void {
    let isOver = false
    const end = () => {
      if (!isOver) this.#pauses--
      isOver = true
    }
    this.#pauses++
    const stop = systemClock.setTimer(delayMs, () => {
      end()
      callback()
    })
    return () => {
      end()
      stop()
    }
  }
}

interface HeldTimer {
  readonly at: number
  readonly callback: () => void
}
