import { BelfryError } from "../core/errors.ts"
import type { Plan } from "../core/planning/plan.ts"
import { planOnHold } from "../core/planning/settling.ts"
import type { SkipReason } from "../core/run/run.ts"
import type { Schedule } from "../core/schedule/schedule.ts"
import { type Instant, SECOND } from "../core/time/instant.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { DueSchedules, FireAnswer, Store } from "../store/store.ts"
import { isUnstorable } from "../store/unstorable.ts"
import { aheadMsTo, type Burst, burstOf } from "./burst.ts"
import type { Events } from "./events.ts"
import { delayUntil, Loop, loopReports } from "./loop.ts"
import { offerPlans } from "./offering.ts"
import { type Planned, Planning } from "./planning.ts"
import { StoreClock } from "./store-clock.ts"

/** Delay of the next read if every schedule of a read was postponed and the store has more. */
const NEXT_READ_MS = SECOND

/**
 * Fires due schedules. Every process may run this loop over the same schedules at once: each reads, plans and offers its
 * plan, and the store accepts one plan per schedule and version. There is no leader, so no failed leader has to be detected.
 */
export class Firing {
  readonly #context: FiringContext
  readonly #loop: Loop
  readonly #storeClock: StoreClock
  readonly #planning: Planning
  /** When schedules were last read, by the store's clock and by this process's monotonic clock. */
  #readAt: { readonly now: Instant; readonly monotonic: number } | null = null
  /** The schedules that are due next. Null: they are too few for a burst. */
  #burst: Burst | null = null

  constructor(context: FiringContext) {
    this.#context = context
    this.#storeClock = new StoreClock(context)
    this.#planning = new Planning(context)
    const reports = loopReports(context, {
      component: "firing",
      fault: "The store can't be read; trying again",
      recovery: "The store answers again",
    })
    this.#loop = new Loop({
      clock: context.clock,
      longestSleepMs: context.pollMs,
      turn: () => this.#turn(),
      onFault: (error, count) => {
        reports.onFault(error, count)
        // A single fault may be transient.
        if (count >= 2 && this.#readAt !== null) context.onOutage(this.#readAt.now)
      },
      onRecovery: () => {
        reports.onRecovery()
        context.onRecovery()
      },
    })
  }

  start(): void {
    void this.#checkLastFires()
    this.#loop.start()
  }

  /** Runs beside the loop, so that a start doesn't wait for it. */
  async #checkLastFires(): Promise<void> {
    try {
      await this.#storeClock.checkLastFires(this.#context.store)
    } catch {
      // The store is unreachable. The loop reports that.
    }
  }

  wake(): void {
    this.#loop.wake()
  }

  /** Called when another loop could reach the store. Resolves to whether schedules can be read. */
  tryAgain(): Promise<boolean> {
    return this.#loop.tryAgain()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  async #turn(): Promise<number> {
    const { store, clock } = this.#context
    const askedAt = clock.monotonic()
    const { limit } = this.#planning
    const read = await store.dueSchedules({
      limit,
      aheadMs: aheadMsTo(this.#burst, this.#now(askedAt)),
    })
    const answeredAt = clock.monotonic()
    this.#readAt = { now: read.now, monotonic: answeredAt }
    this.#storeClock.observe({ now: read.now, askedAt, answeredAt })
    const { planned, left, fault, areAllPostponed } = await this.#planning.plan(read, this.#burst?.at ?? null)
    const plans = planned.map(({ plan }) => plan)
    const ids = plans.flatMap(({ runs }) => runs.map(({ id }) => id))
    const offer = () => offerPlans(this.#context.store, plans)
    const answers = await this.#context.events.creating(ids, offer, (given) => {
      planned.forEach(({ schedule, plan }, index) => {
        this.#report(schedule, plan, given[index]!)
      })
    })
    await this.#holdUnstorable(planned, answers)
    this.#note(answers, clock.monotonic() - askedAt)

    if (fault !== null) throw fault
    const isMore = read.due.length === limit || read.nextDueAt === read.now
    const isHeld = answers.some(({ outcome }) => outcome === "held")
    // Schedules in `left` can only be planned at their instant. If the read held no others, the next read waits for it, too.
    if (isHeld || (isMore && (left.length === 0 || plans.length > 0)))
      return areAllPostponed ? NEXT_READ_MS : 0
    const next = nextOf(read, plans, left)
    this.#burst = next === null || left.length > 0 ? null : burstOf(next.at, next.count)
    const wakeAt = next === null ? null : next.at - (this.#burst?.leadMs ?? 0)
    const delay = delayUntil(wakeAt, read.now, clock.monotonic() - answeredAt)
    return Math.min(delay, this.#planning.tryAgainInMs, this.#storeClock.checkAgainInMs)
  }

  /** The store's clock, estimated from the last read. 0 before the first read. */
  #now(monotonic: number): Instant {
    return this.#readAt === null ? 0 : this.#readAt.now + (monotonic - this.#readAt.monotonic)
  }

  /** The store would refuse the same plan at every turn, so the schedule is put on hold. */
  async #holdUnstorable(planned: readonly Planned[], answers: readonly FireAnswer[]): Promise<void> {
    const plans = planned.flatMap(({ schedule }, index) => {
      const answer = answers[index]!
      return isUnstorable(answer) ? [planOnHold(schedule, answer.why)] : []
    })
    await offerPlans(this.#context.store, plans)
  }

  #note(answers: readonly FireAnswer[], tookMs: number): void {
    if (answers.length === 0) return
    const count = answers.filter(({ outcome }) => outcome === "done").length
    const lostRaces = answers.filter(({ outcome }) => outcome === "stale").length
    this.#context.events.claimed({ what: "schedules", count, lostRaces, tookMs })
  }

  #report(schedule: Schedule, plan: Plan, answer: FireAnswer): void {
    const { logger, events, onFired } = this.#context
    const facts = { component: "firing", scheduleId: schedule.id, task: schedule.task }
    if (isUnstorable(answer)) {
      logger.error({ ...facts, error: answer.why }, "The store can't keep the runs of this schedule")
      events.error(new BelfryError("BELFRY_STORE_REFUSED", answer.why), "firing")
      return
    }
    if (answer.outcome === "held") {
      // That run was created after the read. The next turn reads it.
      logger.debug(facts, "Another run holds the key of this schedule; planning again")
      return
    }
    if (answer.outcome !== "done") {
      // Another process fired the schedule, or it was changed after the read. Neither is an error.
      logger.debug({ ...facts, outcome: answer.outcome }, "Another process was first")
      events.race(schedule.id)
      return
    }
    const nextRunAt = plan.progress?.nextRunAt ?? null
    if (plan.progress !== null && plan.progress.lastError !== null) {
      logger.warn(
        { ...facts, error: plan.progress.lastError },
        "The schedule can't be planned and is skipped",
      )
    }
    for (const run of plan.runs) {
      if (!answer.created.includes(run.id)) continue
      if (run.state === "skipped") {
        logger.info({ ...facts, runId: run.id, reason: run.reason, missed: run.missed }, "Occurrence skipped")
        const { reason, message } = run
        events.emit(run, { type: "skipped", reason: reason as SkipReason, message })
      } else {
        logger.info(
          { ...facts, runId: run.id, priority: run.priority, nextRunAt: isoOrNull(nextRunAt) },
          "Fired",
        )
        events.emit(run, { type: "created" })
      }
    }
    onFired(schedule, plan)
  }
}

export interface FiringContext {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly events: Events
  readonly pollMs: number
  onFired(schedule: Schedule, plan: Plan): void
  /** `since` is when schedules were last read, by the store's clock. */
  onOutage(since: Instant): void
  onRecovery(): void
}

/**
 * The next instant at which schedules are due, and how many. Plans that lost their race count too: the winning process computed
 * the same next instant, and may die before it.
 */
function nextOf(
  { now, nextDueAt, nextDueCount }: DueSchedules,
  plans: readonly Plan[],
  left: readonly Schedule[],
): { at: Instant; count: number } | null {
  const times = [...plans.map(({ progress }) => progress), ...left]
    .map((each) => each?.nextRunAt ?? null)
    .filter((at) => at !== null)
  // If `nextDueAt` is now, the store has more schedules like the ones in `left`.
  const isLater = nextDueAt !== null && nextDueAt > now
  const at = Math.min(isLater ? nextDueAt : Number.POSITIVE_INFINITY, ...times)
  if (at === Number.POSITIVE_INFINITY) return null
  const count = times.filter((time) => time === at).length + (at === nextDueAt ? nextDueCount : 0)
  return { at, count }
}

export function isoOrNull(instant: Instant | null): string | null {
  return instant === null ? null : new Date(instant).toISOString()
}
