import type { FirePlan } from "../core/plan.ts"
import type { Schedule } from "../core/schedule.ts"
import { describeThrown } from "../core/thrown.ts"
import type { Store } from "../store/store.ts"
import type { Clock } from "./clock.ts"
import type { Events } from "./events.ts"
import type { Logger } from "./logger.ts"
import { Loop } from "./loop.ts"

const PAGE = 500

/**
 * The stored schedules that this process declares, as last seen: what it goes on with if they can't be read any more. Read
 * again at every poll, so that a pause made by somebody else is honoured then, too.
 */
export class DeclaredSchedules {
  readonly #store: Store
  readonly #seen = new Map<string, Schedule>()
  readonly #loop: Loop
  #ids: readonly string[] = []

  constructor(context: { store: Store; clock: Clock; logger: Logger; events: Events; pollMs: number }) {
    const { logger, events } = context
    this.#store = context.store
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

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  get seen(): Iterable<Schedule> {
    return this.#seen.values()
  }

  onFired(schedule: Schedule, plan: FirePlan): void {
    if (!this.#seen.has(schedule.id)) return
    if (plan.progress === null) this.#seen.delete(schedule.id)
    else this.#seen.set(schedule.id, { ...schedule, ...plan.progress })
  }

  async #read(): Promise<number> {
    const found: Schedule[] = []
    for (let start = 0; start < this.#ids.length; start += PAGE) {
      const ids = this.#ids.slice(start, start + PAGE)
      found.push(...(await this.#store.findSchedules({ ids }, { afterId: null, limit: PAGE })))
    }
    this.#seen.clear()
    for (const schedule of found) this.#seen.set(schedule.id, schedule)
    return Number.POSITIVE_INFINITY
  }
}
