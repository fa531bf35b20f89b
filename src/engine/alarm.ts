import type { Clock } from "../runtime/clock.ts"

/** One timer. It calls back at the earliest of the times that were set since its last call. */
export class Alarm {
  readonly #clock: Clock
  readonly #callback: () => void
  #at = Number.POSITIVE_INFINITY
  #cancelTimer: () => void = () => undefined

  constructor(clock: Clock, callback: () => void) {
    this.#clock = clock
    this.#callback = callback
  }

  /** By the monotonic clock. */
  setFor(at: number): void {
    if (at >= this.#at) return
    this.#cancelTimer()
    this.#at = at
    this.#cancelTimer = this.#clock.setTimer(Math.max(0, at - this.#clock.monotonic()), () => {
      this.#at = Number.POSITIVE_INFINITY
      this.#callback()
    })
  }

  cancel(): void {
    this.#cancelTimer()
    this.#at = Number.POSITIVE_INFINITY
  }
}
