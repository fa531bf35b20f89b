import type { Clock } from "../runtime/clock.ts"

/** One timer, to the earliest of the instants it was set for since it last rang. */
export class Alarm {
  readonly #clock: Clock
  readonly #onRing: () => void
  #at = Number.POSITIVE_INFINITY
  #cancel: () => void = () => undefined

  constructor(clock: Clock, onRing: () => void) {
    this.#clock = clock
    this.#onRing = onRing
  }

  /** By the monotonic clock. */
  setFor(at: number): void {
    if (at >= this.#at) return
    this.#cancel()
    this.#at = at
    this.#cancel = this.#clock.setTimer(Math.max(0, at - this.#clock.monotonic()), () => {
      this.#at = Number.POSITIVE_INFINITY
      this.#onRing()
    })
  }

  callOff(): void {
    this.#cancel()
    this.#at = Number.POSITIVE_INFINITY
  }
}
