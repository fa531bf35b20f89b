import { SECOND } from "../core/instant.ts"
import type { Clock } from "./clock.ts"

/** How long a schedule is left alone whose plan needs what couldn't be read. */
const REST_MS = 30 * SECOND

/** Schedules that couldn't be planned, though others can be. To try them at every turn would hold the others up. */
export class Resting {
  readonly #clock: Clock
  readonly #until = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  rest(scheduleId: string): void {
    this.#until.set(scheduleId, this.#clock.monotonic() + REST_MS)
  }

  has(scheduleId: string): boolean {
    return (this.#until.get(scheduleId) ?? 0) > this.#clock.monotonic()
  }

  /** How long until the first of them is tried again. Asked once a turn: whose rest is over is forgotten by it. */
  wakeInMs(): number {
    const now = this.#clock.monotonic()
    const until = Math.min(...this.#until.values())
    for (const [id, each] of this.#until) if (each <= now) this.#until.delete(id)
    return Math.max(0, until - now)
  }
}
