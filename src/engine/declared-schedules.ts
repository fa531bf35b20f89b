import type { FirePlan } from "../core/planning/plan.ts"
import type { Schedule } from "../core/schedule/schedule.ts"
import { newScheduleOf } from "../core/schedule/stored-schedule.ts"
import { MINUTE } from "../core/time/instant.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Store } from "../store/store.ts"
import type { Events } from "./events.ts"
import { Loop, loopReports } from "./loop.ts"

const PAGE = 500
/** Limits reads: schedules may be edited all the time, and each edit sends a hint to every process. */
const READ_EVERY_MS = 1_000
/** A schedule that is missing for longer was deleted: a store that lost data notices it within this time. */
const MISSING_KEPT_MS = 5 * MINUTE

/**
 * The stored schedules that this process declares, as last read. The process goes on with them if they can't be read any more.
 * They are read again at every hint about schedules and at every poll, so that a pause made elsewhere is honoured then, too. If
 * the store has lost them, they are stored again.
 */
export class DeclaredSchedules {
  readonly #store: Store
  readonly #clock: Clock
  readonly #seen = new Map<string, Schedule>()
  /** Missing schedules, and since when by the monotonic clock: deleted, or lost by a store that reports it only polls later. */
  readonly #missing = new Map<string, { readonly schedule: Schedule; readonly since: number }>()
  readonly #loop: Loop
  readonly #onRead: (schedules: readonly Schedule[]) => void
  #ids: readonly string[] = []
  #isToRestore = false
  #isThrottled = false
  /** A hint came while reads were throttled. */
  #isWoken = false
  #endThrottle = () => {}

  constructor(context: DeclaredSchedulesContext) {
    this.#store = context.store
    this.#clock = context.clock
    this.#onRead = context.onRead
    this.#loop = new Loop({
      clock: context.clock,
      longestSleepMs: context.pollMs,
      turn: () => this.#read(),
      ...loopReports(context, {
        component: "declared",
        level: "warn",
        fault: "Declared schedules can't be read; using them as last read",
      }),
    })
  }

  start(ids: readonly string[]): void {
    this.#ids = ids
    if (ids.length > 0) this.#loop.start()
  }

  /** The stored schedules may have changed. */
  wake(): void {
    if (this.#isThrottled) this.#isWoken = true
    else this.#loop.wake()
  }

  /** The store may have lost the schedules. */
  restore(): void {
    this.#isToRestore = true
    this.#loop.wake()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
    this.#endThrottle()
  }

  get seen(): Iterable<Schedule> {
    return this.#seen.values()
  }

  onFired(schedule: Schedule, plan: FirePlan): void {
    if (!this.#seen.has(schedule.id)) return
    const { edits: _, ...settled } = schedule
    if (plan.progress === null) this.#seen.delete(schedule.id)
    else this.#seen.set(schedule.id, { ...settled, ...plan.progress })
  }

  async #read(): Promise<number> {
    this.#throttle()
    if (this.#isToRestore) await this.#putBack()
    const found: Schedule[] = []
    for (let start = 0; start < this.#ids.length; start += PAGE) {
      const ids = this.#ids.slice(start, start + PAGE)
      found.push(...(await this.#store.findSchedules({ ids }, { orderBy: "id", after: null, limit: PAGE })))
    }
    this.#note(found)
    this.#onRead(found)
    return Number.POSITIVE_INFINITY
  }

  #throttle(): void {
    this.#endThrottle()
    this.#isThrottled = true
    this.#endThrottle = this.#clock.setTimer(READ_EVERY_MS, () => {
      this.#isThrottled = false
      if (this.#isWoken) this.#loop.wake()
      this.#isWoken = false
    })
  }

  #note(found: readonly Schedule[]): void {
    const now = this.#clock.monotonic()
    for (const [id, schedule] of this.#seen) this.#missing.set(id, { schedule, since: now })
    this.#seen.clear()
    for (const schedule of found) this.#seen.set(schedule.id, schedule)
    for (const [id, { since }] of this.#missing)
      if (this.#seen.has(id) || now - since > MISSING_KEPT_MS) this.#missing.delete(id)
  }

  /** Stores them as last read, so that a pause and owed occurrences are kept. A schedule that exists is left as it is. */
  async #putBack(): Promise<void> {
    const missing = [...this.#missing.values()].map(({ schedule }) => schedule)
    for (const schedule of [...missing, ...this.#seen.values()])
      await this.#store.putSchedule(newScheduleOf(schedule), null)
    this.#missing.clear()
    this.#isToRestore = false
  }
}

export interface DeclaredSchedulesContext {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly events: Events
  readonly pollMs: number
  /** Called after each read with the declared schedules that exist. */
  onRead(schedules: readonly Schedule[]): void
}
