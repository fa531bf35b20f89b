import { MINUTE } from "../core/instant.ts"
import type { FirePlan } from "../core/plan.ts"
import type { Schedule } from "../core/schedule.ts"
import { describeThrown } from "../core/thrown.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Store } from "../store/store.ts"
import type { Events } from "./events.ts"
import { Loop } from "./loop.ts"

const PAGE = 500
/** Others may edit schedules all the time, and each edit is a hint to every process. */
const READ_EVERY_MS = 1_000
/** A schedule that is gone for longer was deleted: a store notices within this time that it has lost something. */
const GONE_KEPT_MS = 5 * MINUTE

/**
 * The stored schedules that this process declares, as last seen: what it goes on with if they can't be read any more. Read
 * again at every hint about schedules and at every poll, so that a pause made by somebody else is honoured then, too. A store
 * that has lost them gets them back.
 */
export class DeclaredSchedules {
  readonly #store: Store
  readonly #clock: Clock
  readonly #seen = new Map<string, Schedule>()
  /** Not there any more, since when by our own clock: deleted, or lost by a store that says so only after several polls. */
  readonly #gone = new Map<string, { readonly schedule: Schedule; readonly since: number }>()
  readonly #loop: Loop
  readonly #onRead: (schedules: readonly Schedule[]) => void
  #ids: readonly string[] = []
  #isToRestore = false
  #isResting = false
  /** Somebody changed them during the rest. */
  #isWoken = false
  #endRest = () => {}

  constructor(context: DeclaredSchedulesContext) {
    const { logger, events } = context
    this.#store = context.store
    this.#clock = context.clock
    this.#onRead = context.onRead
    this.#loop = new Loop({
      clock: context.clock,
      longestSleepMs: context.pollMs,
      turn: () => this.#read(),
      onFault(error, count) {
        const facts = { component: "declared", error: describeThrown(error) }
        if (count === 1)
          logger.warn(facts, "Declared schedules can't be read; what was last seen of them stands")
        events.error(error, "declared")
      },
    })
  }

  start(ids: readonly string[]): void {
    this.#ids = ids
    if (ids.length > 0) this.#loop.start()
  }

  /** Somebody may have changed them. */
  wake(): void {
    if (this.#isResting) this.#isWoken = true
    else this.#loop.wake()
  }

  /** The store may have lost them. */
  restore(): void {
    this.#isToRestore = true
    this.#loop.wake()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
    this.#endRest()
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
    this.#rest()
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

  #rest(): void {
    this.#endRest()
    this.#isResting = true
    this.#endRest = this.#clock.setTimer(READ_EVERY_MS, () => {
      this.#isResting = false
      if (this.#isWoken) this.#loop.wake()
      this.#isWoken = false
    })
  }

  #note(found: readonly Schedule[]): void {
    const now = this.#clock.monotonic()
    for (const [id, schedule] of this.#seen) this.#gone.set(id, { schedule, since: now })
    this.#seen.clear()
    for (const schedule of found) this.#seen.set(schedule.id, schedule)
    for (const [id, { since }] of this.#gone)
      if (this.#seen.has(id) || now - since > GONE_KEPT_MS) this.#gone.delete(id)
  }

  /** As last seen, so that a pause and what is owed since are kept. One that is stored is left as it is. */
  async #putBack(): Promise<void> {
    const gone = [...this.#gone.values()].map(({ schedule }) => schedule)
    for (const schedule of [...gone, ...this.#seen.values()]) await this.#store.putSchedule(schedule, null)
    this.#gone.clear()
    this.#isToRestore = false
  }
}

export interface DeclaredSchedulesContext {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly events: Events
  readonly pollMs: number
  /** All that are there, as just read. */
  onRead(schedules: readonly Schedule[]): void
}
