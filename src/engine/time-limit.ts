import type { Clock } from "../runtime/clock.ts"

/** One time limit for several steps together, counted from the creation of this object. */
export class TimeLimit {
  readonly #clock: Clock
  readonly #endsAt: number
  readonly #unanswered: string[] = []

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock
    this.#endsAt = clock.monotonic() + limitMs
  }

  get isOver(): boolean {
    return this.#clock.monotonic() >= this.#endsAt
  }

  /** The steps that had not ended by the limit. */
  get unanswered(): readonly string[] {
    return this.#unanswered
  }

  /** Waits for the step until the limit at most. True: the step has ended, even if by a rejection. */
  async waitFor(step: string, ended: Promise<unknown>): Promise<boolean> {
    const isInTime = await new Promise<boolean>((resolve) => {
      const leftMs = Math.max(0, this.#endsAt - this.#clock.monotonic())
      const cancelTimer = this.#clock.setTimer(leftMs, () => resolve(false))
      const onEnd = () => {
        cancelTimer()
        resolve(true)
      }
      ended.then(onEnd, onEnd)
    })
    if (!isInTime) this.#unanswered.push(step)
    return isInTime
  }
}
