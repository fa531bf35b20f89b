import { BelfryError } from "../core/errors.ts"
import { type Instant, SECOND } from "../core/instant.ts"
import { cancelsOf, type Plan } from "../core/plan.ts"
import type { SkipReason } from "../core/run.ts"
import type { Schedule } from "../core/schedule.ts"
import { planOnHold } from "../core/settling.ts"
import { describeThrown } from "../core/thrown.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import { isRefused } from "../store/refused.ts"
import type { DueSchedules, FireAnswer, Store } from "../store/store.ts"
import { aheadMsTo, type Burst, burstOf } from "./burst.ts"
import { cancelAll } from "./cancelling.ts"
import type { Events } from "./events.ts"
import { delayUntil, Loop } from "./loop.ts"
import { type Planned, Planning } from "./planning.ts"
import { StoreClock } from "./store-clock.ts"

/** If all that was given rests, and the store has more. */
const NEXT_READ_MS = SECOND

/**
 * Fires due schedules. Every process may run this loop over the same schedules at once: each reads, plans and offers its
 * plan, and the store lets one plan per schedule and version through. Nobody leads, so nobody has to be found missing.
 */
export class Firing {
  readonly #context: FiringContext
  readonly #loop: Loop
  readonly #storeClock: StoreClock
  readonly #planning: Planning
  /** When schedules were last read: by the store's clock, and by our own. */
  #readAt: { readonly now: Instant; readonly monotonic: number } | null = null
  /** The next to be due, if they are many. */
  #burst: Burst | null = null

  constructor(context: FiringContext) {
    this.#context = context
    this.#storeClock = new StoreClock(context)
    this.#planning = new Planning(context)
    this.#loop = new Loop({
      clock: context.clock,
      longestSleepMs: context.pollMs,
      turn: () => this.#turn(),
      onFault: (error, count) => this.#onFault(error, count),
      onRecovery: () => {
        context.logger.warn({ component: "firing" }, "The store answers again")
        context.onRecovery()
      },
    })
  }

  start(): void {
    void this.#lookBack()
    this.#loop.start()
  }

  /** Beside the loop: whoever starts doesn't wait for it. */
  async #lookBack(): Promise<void> {
    try {
      await this.#storeClock.lookBack(this.#context.store)
    } catch {
      // The store is away: the loop says so.
    }
  }

  wake(): void {
    this.#loop.wake()
  }

  /** Somebody else could reach the store. Resolves to whether schedules can be read. */
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
    this.#storeClock.saw({ now: read.now, askedAt, answeredAt })
    const { planned, left, fault, isAllResting } = await this.#planning.plan(read, this.#burst?.at ?? null)
    const plans = planned.map(({ plan }) => plan)
    const ids = plans.flatMap(({ runs }) => runs.map(({ id }) => id))
    const offer = () => this.#offer(plans)
    const answers = await this.#context.events.creating(ids, offer, (given) => {
      planned.forEach(({ schedule, plan }, index) => {
        this.#report(schedule, plan, given[index]!)
      })
    })
    await this.#holdRefused(planned, answers)
    this.#note(answers, clock.monotonic() - askedAt)

    if (fault !== null) throw fault
    const isMore = read.due.length === limit || read.nextDueAt === read.now
    const isHeld = answers.some(({ outcome }) => outcome === "held")
    // Those that are left wait for their instant, and so do we, unless others came with them.
    if (isHeld || (isMore && (left.length === 0 || plans.length > 0))) return isAllResting ? NEXT_READ_MS : 0
    const next = nextOf(read, plans, left)
    this.#burst = next === null || left.length > 0 ? null : burstOf(next.at, next.count)
    const wakeAt = next === null ? null : next.at - (this.#burst?.leadMs ?? 0)
    const delay = delayUntil(wakeAt, read.now, clock.monotonic() - answeredAt)
    return Math.min(delay, this.#planning.tryAgainInMs, this.#storeClock.lookAgainInMs)
  }

  /** By the store's clock, as far as we know. */
  #now(monotonic: number): Instant {
    return this.#readAt === null ? 0 : this.#readAt.now + (monotonic - this.#readAt.monotonic)
  }

  /** What the store can't keep would be refused for ever. */
  async #holdRefused(planned: readonly Planned[], answers: readonly FireAnswer[]): Promise<void> {
    const plans = planned.flatMap(({ schedule }, index) => {
      const answer = answers[index]!
      return isRefused(answer) ? [planOnHold(schedule, answer.why)] : []
    })
    if (plans.length > 0) await this.#context.store.fire(plans)
  }

  #note(answers: readonly FireAnswer[], tookMs: number): void {
    if (answers.length === 0) return
    const count = answers.filter(({ outcome }) => outcome === "done").length
    const lost = answers.filter(({ outcome }) => outcome === "stale").length
    this.#context.events.claimed({ what: "schedules", count, lost, tookMs })
  }

  async #offer(plans: readonly Plan[]): Promise<readonly FireAnswer[]> {
    if (plans.length === 0) return []
    const { store } = this.#context
    await cancelAll(store, plans.flatMap(cancelsOf))
    return store.fire(plans)
  }

  #report(schedule: Schedule, plan: Plan, answer: FireAnswer): void {
    const { logger, events, onFired } = this.#context
    const facts = { component: "firing", scheduleId: schedule.id, task: schedule.task }
    if (isRefused(answer)) {
      logger.error({ ...facts, error: answer.why }, "The store can't keep what the schedule would fire")
      events.error(new BelfryError("BELFRY_STORE_REFUSED", answer.why), "firing")
      return
    }
    if (answer.outcome === "held") {
      // A run that came after the read: the next turn reads of it.
      logger.debug(facts, "Another run holds the key of this schedule; planning again")
      return
    }
    if (answer.outcome !== "done") {
      // Another process was first, or something changed in between: not an error, and not our business any more.
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

  #onFault(error: unknown, count: number): void {
    const { logger, events, onOutage } = this.#context
    if (count === 1) {
      logger.error(
        { component: "firing", error: describeThrown(error) },
        "The store can't be read; trying again",
      )
    }
    events.error(error, "firing")
    // Once may be a hiccup.
    if (count >= 2 && this.#readAt !== null) onOutage(this.#readAt.now)
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
 * When schedules are next due, and how many then. Plans that lost their race count too: the winner computed the same next
 * time, and may die before it comes.
 */
function nextOf(
  { now, nextDueAt, nextDueCount }: DueSchedules,
  plans: readonly Plan[],
  left: readonly Schedule[],
): { at: Instant; count: number } | null {
  const times = [...plans.map(({ progress }) => progress), ...left]
    .map((each) => each?.nextRunAt ?? null)
    .filter((at) => at !== null)
  // Now means that there are more of those that are left.
  const isLater = nextDueAt !== null && nextDueAt > now
  const at = Math.min(isLater ? nextDueAt : Number.POSITIVE_INFINITY, ...times)
  if (at === Number.POSITIVE_INFINITY) return null
  const count = times.filter((time) => time === at).length + (at === nextDueAt ? nextDueCount : 0)
  return { at, count }
}

export function isoOrNull(instant: Instant | null): string | null {
  return instant === null ? null : new Date(instant).toISOString()
}
