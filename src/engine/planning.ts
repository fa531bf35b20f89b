import { planFire } from "../core/fire.ts"
import { type Instant, SECOND } from "../core/instant.ts"
import { isToLookUp, type Plan } from "../core/plan.ts"
import { planAhead } from "../core/plan-ahead.ts"
import type { Schedule } from "../core/schedule.ts"
import { describeThrown } from "../core/thrown.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { DueSchedules, Store } from "../store/store.ts"
import type { Events } from "./events.ts"
import { plannedBy } from "./facts.ts"
import { PostponedSchedules } from "./postponed-schedules.ts"

/** How many schedules one turn plans: enough to amortise the round trip, few enough to share the work. */
const BATCH = 500
/** How long look-ups that fail may keep the other schedules of a turn waiting. */
const FAILED_MAX_MS = 5 * SECOND
/** If more schedules than this can't be planned, it is the store that can't be read. */
const RESTING_MAX = 1_000

/**
 * Makes the plans of one turn. A schedule that is behind needs to know what is recorded of it; if that can't be read, the
 * schedule rests, and the others go on.
 */
export class Planning {
  readonly #context: PlanningContext
  readonly #resting: PostponedSchedules

  constructor(context: PlanningContext) {
    this.#context = context
    this.#resting = new PostponedSchedules(context.clock)
  }

  /** How many schedules to ask for: those that rest are due, too, and must not crowd out the others. */
  get limit(): number {
    return BATCH + this.#resting.size
  }

  /** How long until a schedule that rests is tried again. */
  get tryAgainInMs(): number {
    return this.#resting.wakeInMs
  }

  /** Throws if the store is away. Those due at `burstAt` are planned ahead. */
  async plan({ due, now }: DueSchedules, burstAt: Instant | null): Promise<Plans> {
    const { store, clock } = this.#context
    const planned: Planned[] = []
    const left: Schedule[] = []
    let [failedMs, fault]: [number, unknown] = [0, null]
    const awake = due.filter(({ schedule }) => !this.#resting.has(schedule.id))
    for (const { schedule, facts } of awake) {
      const isDue = schedule.nextRunAt! <= now
      // Others that are due before the burst don't belong to it.
      const isOfBurst = schedule.nextRunAt === burstAt
      // Waiting for what is known already would cost each of a thousand plans a turn of the event loop.
      let plan = isDue ? planFire(schedule, facts, now) : isOfBurst ? planAhead(schedule, facts) : null
      if (plan !== null && isToLookUp(plan, schedule)) {
        if (fault !== null) continue
        const askedAt = clock.monotonic()
        try {
          plan = await plannedBy(store, schedule, facts, (known) => planFire(schedule, known, now))
        } catch (error) {
          failedMs += clock.monotonic() - askedAt
          await this.#rest(schedule, error)
          if (failedMs >= FAILED_MAX_MS || this.#resting.size > RESTING_MAX) fault = error
          continue
        }
      }
      if (plan === null) left.push(schedule)
      else planned.push({ schedule, plan })
    }
    return { planned, left, fault, isAllResting: due.length > 0 && awake.length === 0 }
  }

  async #rest(schedule: Schedule, error: unknown): Promise<void> {
    // Is it the schedule, or the store? A store that is away fails here as well, and that is a fault of the whole turn.
    await this.#context.store.now()
    this.#resting.rest(schedule.id)
    const facts = { component: "firing", scheduleId: schedule.id, error: describeThrown(error) }
    this.#context.logger.error(facts, "What is recorded of the schedule can't be read; trying again")
    this.#context.events.error(error, "firing")
  }
}

export interface Plans {
  readonly planned: readonly Planned[]
  /** It can't be known yet what these will owe. */
  readonly left: readonly Schedule[]
  /** Look-ups failed for too long: the rest of them wasn't tried. Null if all is well. */
  readonly fault: unknown
  readonly isAllResting: boolean
}

export interface Planned {
  readonly schedule: Schedule
  readonly plan: Plan
}

export interface PlanningContext {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly events: Events
}
