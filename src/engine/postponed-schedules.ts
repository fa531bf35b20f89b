import { SECOND } from "../core/time/instant.ts"
import type { Clock } from "../runtime/clock.ts"

/** How long a schedule is postponed if the records for its plan can't be read. */
const POSTPONE_MS = 30 * SECOND

/** Schedules that couldn't be planned, although others can be. Trying them at every turn would delay the others. */
export class PostponedSchedules {
  readonly #clock: Clock
  /** When each schedule is tried again, by the monotonic clock, earliest first. */
  readonly #until = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  postpone(scheduleId: string): void {
    this.#until.delete(scheduleId)
    this.#until.set(scheduleId, this.#clock.monotonic() + POSTPONE_MS)
  }

  has(scheduleId: string): boolean {
    return (this.#until.get(scheduleId) ?? 0) > this.#clock.monotonic()
  }

  /** How many are postponed now. */
  get size(): number {
    this.#dropExpired()
    return this.#until.size
  }

  /** Delay until the first of them is tried again. Infinity: none is postponed. */
  get tryAgainInMs(): number {
    this.#dropExpired()
    const [first = Number.POSITIVE_INFINITY] = this.#until.values()
    return first - this.#clock.monotonic()
  }

  #dropExpired(): void {
    const now = this.#clock.monotonic()
    for (const [id, until] of this.#until) {
      if (until > now) return
      this.#until.delete(id)
    }
  }
}
