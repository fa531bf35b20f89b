import type { Clock } from "../runtime/clock.ts"

/** Runs begin one after another for this long. Then the process does its other work before the next run begins. */
const PAUSE_AFTER_MS = 10

/**
 * Hundreds of runs can be ready to begin at once, and tasks may block the process as they begin. In the pauses between them the
 * process sends heartbeats, reads answers and stores ends.
 */
export class BeginPauses {
  readonly #clock: Clock
  /** When the first run since the last pause began, by the monotonic clock. Null: none has begun since then. */
  #since: number | null = null
  #nextPause: Promise<void> = Promise.resolve()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Called right before a run begins. Null: it may begin now. Otherwise it asks again when the promise resolves. */
  wait(): Promise<void> | null {
    const now = this.#clock.monotonic()
    if (this.#since === null) this.#begin(now)
    return now - this.#since! < PAUSE_AFTER_MS ? null : this.#nextPause
  }

  #begin(now: number): void {
    this.#since = now
    this.#nextPause = new Promise((resolve) => {
      this.#clock.setTimer(0, () => {
        this.#since = null
        resolve()
      })
    })
  }
}
