import { SECOND } from "../core/instant.ts"
import type { Clock } from "../runtime/clock.ts"

/** How long a schedule is left alone whose plan needs what couldn't be read. */
const REST_MS = 30 * SECOND

/** Schedules that couldn't be planned, though others can be. To try them at every turn would hold the others up. */
export class PostponedSchedules {
  readonly #clock: Clock
  /** In the order in which their rests end. */
  readonly #until = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  rest(scheduleId: string): void {
    this.#until.delete(scheduleId)
    this.#until.set(scheduleId, this.#clock.monotonic() + REST_MS)
  }

  has(scheduleId: string): boolean {
    return (this.#until.get(scheduleId) ?? 0) > this.#clock.monotonic()
  }

  /** How many rest now. */
  get size(): number {
    this.#forget()
    return this.#until.size
  }

  /** How long until the first of them is tried again. */
  get wakeInMs(): number {
    this.#forget()
    const [first = Number.POSITIVE_INFINITY] = this.#until.values()
    return first - this.#clock.monotonic()
  }

  #forget(): void {
    const now = this.#clock.monotonic()
    for (const [id, until] of this.#until) {
      if (until > now) return
      this.#until.delete(id)
    }
  }
}
