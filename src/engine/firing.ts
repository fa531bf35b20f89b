import { planFire } from "../core/fire.ts"
import type { Instant } from "../core/instant.ts"
import type { FirePlan } from "../core/plan.ts"
import type { RunChange, SkipReason } from "../core/run.ts"
import type { Schedule } from "../core/schedule.ts"
import { describeThrown } from "../core/thrown.ts"
import type { DueSchedules, FireAnswer, Store } from "../store/store.ts"
import type { Clock } from "./clock.ts"
import type { Events } from "./events.ts"
import type { Logger } from "./logger.ts"
import { Loop } from "./loop.ts"

/** How many schedules one turn plans: enough to amortise the round trip, few enough to share the work. */
const BATCH = 500

/**
 * Fires due schedules. Every process may run this loop over the same schedules at once: each reads, plans and offers its
 * plan, and the store lets one plan per schedule and version through. Nobody leads, so nobody has to be found missing.
 */
export class Firing {
  readonly #context: FiringContext
  readonly #loop: Loop
  #readAt: Instant | null = null

  constructor(context: FiringContext) {
    this.#context = context
    this.#loop = new Loop({
      clock: context.clock,
      longestSleepMs: context.pollMs,
      turn: () => this.#turn(),
      onFault: (error, count) => this.#onFault(error, count),
      onRecovery: () => {
        context.logger.info({ component: "firing" }, "The store answers again")
        context.onRecovery()
      },
    })
  }

  start(): void {
    this.#loop.start()
  }

  wake(): void {
    this.#loop.wake()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  async #turn(): Promise<number> {
    const { store, clock } = this.#context
    const askedAt = clock.monotonic()
    const read = await store.dueSchedules({ limit: BATCH })
    this.#readAt = read.now
    const answeredAt = clock.monotonic()
    const plans = read.due.map(({ schedule, facts }) => planFire(schedule, facts, read.now))
    const answers = await this.#offer(plans)
    this.#note(answers, clock.monotonic() - askedAt)

    plans.forEach((plan, index) => {
      this.#report(read.due[index]!.schedule, plan, answers[index]!)
    })
    const isUnfinished = read.due.length === BATCH || answers.some((answer) => answer.outcome === "held")
    return isUnfinished ? 0 : delayUntil(earliest(read, plans), read.now, clock.monotonic() - answeredAt)
  }

  #note(answers: readonly FireAnswer[], tookMs: number): void {
    if (answers.length === 0) return
    const lost = answers.filter(({ outcome }) => outcome !== "done").length
    this.#context.events.taken({ what: "schedules", count: answers.length - lost, lost, tookMs })
  }

  async #offer(plans: readonly FirePlan[]): Promise<readonly FireAnswer[]> {
    if (plans.length === 0) return []
    const { store } = this.#context
    const cancels = plans.flatMap(cancelsOf)
    if (cancels.length > 0) await store.transition(cancels)
    return store.fire(plans)
  }

  #report(schedule: Schedule, plan: FirePlan, answer: FireAnswer): void {
    const { logger, events, onFired } = this.#context
    const facts = { component: "firing", scheduleId: schedule.id, task: schedule.task }
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
    if (count >= 2 && this.#readAt !== null) onOutage(this.#readAt)
  }
}

export interface FiringContext {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly events: Events
  readonly pollMs: number
  onFired(schedule: Schedule, plan: FirePlan): void
  /** `since` is when schedules were last read, by the store's clock. */
  onOutage(since: Instant): void
  onRecovery(): void
}

/** A run never gives way to itself: it may have been created from memory already, or by another process. */
export function cancelsOf({ cancels, runs }: FirePlan): readonly RunChange[] {
  return cancels.filter(({ runId }) => !runs.some(({ id }) => id === runId))
}

/** Plans that lost their race count too: the winner computed the same next time, and may die before it comes. */
function earliest(read: DueSchedules, plans: readonly FirePlan[]): Instant | null {
  const times = [read.nextDueAt, ...plans.map((plan) => plan.progress?.nextRunAt ?? null)]
  const known = times.filter((at): at is Instant => at !== null)
  return known.length === 0 ? null : Math.min(...known)
}

/** By the store's clock at the last answer, and our own for what has passed since. */
export function delayUntil(at: Instant | null, storeNow: Instant, elapsedMs: number): number {
  return at === null ? Number.POSITIVE_INFINITY : Math.max(0, at - storeNow - elapsedMs)
}

export function isoOrNull(instant: Instant | null): string | null {
  return instant === null ? null : new Date(instant).toISOString()
}
