import type { Clock } from "../runtime/clock.ts"

/** One limit for several steps together. It counts from its making. */
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

  /** The steps that hadn't ended by the limit. */
  get unanswered(): readonly string[] {
    return this.#unanswered
  }

  /** Waits for the step, at most until the limit; true if it ended. One that rejects has ended. */
  async allows(step: string, ended: Promise<unknown>): Promise<boolean> {
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
