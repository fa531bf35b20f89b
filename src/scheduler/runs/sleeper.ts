import type { Clock } from "../../runtime/clock.ts"

/** A sleep that `wake` can end early. A `wake` while nothing sleeps ends the next sleep. */
export class Sleeper {
  readonly #clock: Clock
  #isWoken = false
  #endSleep: () => void = () => undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wake(): void {
    this.#isWoken = true
    this.#endSleep()
  }

  async sleep(ms: number): Promise<void> {
    if (!this.#isWoken)
      await new Promise<void>((resolve) => {
        const stopTimer = this.#clock.setTimer(ms, resolve)
        this.#endSleep = () => {
          stopTimer()
          resolve()
        }
      })
    this.#isWoken = false
    this.#endSleep = () => undefined
  }
}
