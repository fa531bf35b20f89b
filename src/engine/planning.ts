import { planFire } from "../core/planning/fire.ts"
import { needsRecords, type Plan } from "../core/planning/plan.ts"
import { planAhead } from "../core/planning/plan-ahead.ts"
import type { Schedule } from "../core/schedule/schedule.ts"
import { type Instant, SECOND } from "../core/time/instant.ts"
import { describeThrown } from "../core/values/thrown.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { DueSchedules, Store } from "../store/store.ts"
import type { Events } from "./events.ts"
import { plannedBy } from "./facts.ts"
import { PostponedSchedules } from "./postponed-schedules.ts"

/** Schedules planned per turn: enough to amortise the round trip, few enough that processes share the work. */
const BATCH = 500
/** Failing look-ups may delay the other schedules of a turn by this much. */
const FAILED_MAX_MS = 5 * SECOND
/** If more schedules than this are postponed, the turn fails: the store itself is probably unreadable. */
const POSTPONED_MAX = 1_000

/**
 * Makes the plans of one turn. A schedule that is behind needs its recorded occurrences. If they can't be read, the schedule is
 * postponed, and the others are planned.
 */
export class Planning {
  readonly #context: PlanningContext
  readonly #postponed: PostponedSchedules

  constructor(context: PlanningContext) {
    this.#context = context
    this.#postponed = new PostponedSchedules(context.clock)
  }

  /** How many schedules to read. Postponed schedules are due too, and must not crowd out the others. */
  get limit(): number {
    return BATCH + this.#postponed.size
  }

  /** Delay until a postponed schedule is tried again. */
  get tryAgainInMs(): number {
    return this.#postponed.tryAgainInMs
  }

  /** Throws if the store is unreachable. Schedules due at `burstAt` are planned ahead. */
  async plan({ due, now }: DueSchedules, burstAt: Instant | null): Promise<Plans> {
    const { store, clock } = this.#context
    const planned: Planned[] = []
    const left: Schedule[] = []
    let [failedMs, fault]: [number, unknown] = [0, null]
    const active = due.filter(({ schedule }) => !this.#postponed.has(schedule.id))
    for (const { schedule, facts } of active) {
      const isDue = schedule.nextRunAt! <= now
      // Schedules that are due before the burst are not planned ahead.
      const isOfBurst = schedule.nextRunAt === burstAt
      // Not awaited, unless there is something to look up: that would cost each of a thousand plans a turn of the event loop.
      let plan = isDue ? planFire(schedule, facts, now) : isOfBurst ? planAhead(schedule, facts) : null
      if (plan !== null && needsRecords(plan, schedule)) {
        if (fault !== null) continue
        const askedAt = clock.monotonic()
        try {
          plan = await plannedBy(store, schedule, facts, (known) => planFire(schedule, known, now))
        } catch (error) {
          failedMs += clock.monotonic() - askedAt
          await this.#postpone(schedule, error)
          if (failedMs >= FAILED_MAX_MS || this.#postponed.size > POSTPONED_MAX) fault = error
          continue
        }
      }
      if (plan === null) left.push(schedule)
      else planned.push({ schedule, plan })
    }
    return { planned, left, fault, areAllPostponed: due.length > 0 && active.length === 0 }
  }

  async #postpone(schedule: Schedule, error: unknown): Promise<void> {
    // Tells a fault of this schedule from one of the store: if the store is unreachable, this throws and ends the whole turn.
    await this.#context.store.now()
    this.#postponed.postpone(schedule.id)
    const facts = { component: "firing", scheduleId: schedule.id, error: describeThrown(error) }
    this.#context.logger.error(facts, "The schedule's recorded occurrences can't be read; trying again")
    this.#context.events.error(error, "firing")
  }
}

export interface Plans {
  readonly planned: readonly Planned[]
  /** Schedules that can only be planned at their instant. */
  readonly left: readonly Schedule[]
  /** The error of the last look-up if look-ups failed for too long and the others weren't tried. Null: no fault. */
  readonly fault: unknown
  /** Schedules were read, and all of them are postponed. */
  readonly areAllPostponed: boolean
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
