import type { Clock } from "../../../src/runtime/clock.ts"
import { systemClock } from "../../../src/runtime/clock.ts"

/** Leases, polls and deadlines are longer than this. */
const PAUSE_MAX_MS = 1_000

/**
 * A clock that a test advances. Timers of more than a second fire only when the test has advanced the clock far enough. Shorter
 * timers are pauses between retries, and fire in real time.
 */
export class ManualClock implements Clock {
  #advancedMs = 0
  readonly #pending = new Set<PendingTimer>()
  #pauses = 0

  readonly now = () => systemClock.now()
  readonly monotonic = () => this.#advancedMs
  readonly random = () => 0.5
  readonly newId = () => systemClock.newId()

  readonly setTimer = (delayMs: number, callback: () => void): (() => void) => {
    if (delayMs <= PAUSE_MAX_MS) return this.#setPause(delayMs, callback)
    const timer = { at: this.#advancedMs + delayMs, callback }
    this.#pending.add(timer)
    return () => void this.#pending.delete(timer)
  }

  /** How many timers wait for the clock to be advanced. */
  get pendingTimers(): number {
    return this.#pending.size
  }

  /** Whether no pause is running. */
  get hasNoPauses(): boolean {
    return this.#pauses === 0
  }

  /** Advances the clock, and fires the timers that are due. */
  advance(ms: number): void {
    this.#advancedMs += ms
    for (const timer of [...this.#pending].filter(({ at }) => at <= this.#advancedMs)) {
      // A timer that fires may stop another.
      if (this.#pending.delete(timer)) timer.callback()
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

interface PendingTimer {
  readonly at: number
  readonly callback: () => void
}
