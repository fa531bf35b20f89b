import type { Clock } from "../../runtime/clock.ts"

/** Pauses that something else may end before their time. An end that comes while there is none ends the next one. */
export class Pauses {
  readonly #clock: Clock
  #isToEnd = false
  #wake: () => void = () => undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  end(): void {
    this.#isToEnd = true
    this.#wake()
  }

  async begin(ms: number): Promise<void> {
    if (!this.#isToEnd)
      await new Promise<void>((resolve) => {
        const stopTimer = this.#clock.setTimer(ms, resolve)
        this.#wake = () => {
          stopTimer()
          resolve()
        }
      })
    this.#isToEnd = false
    this.#wake = () => undefined
  }
}
