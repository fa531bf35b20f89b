import { planFire } from "../core/fire.ts"
import { type Instant, SECOND } from "../core/instant.ts"
import { skipRecordOf } from "../core/new-run.ts"
import { occurrenceAfter } from "../core/occurrence.ts"
import { type FirePlan, NO_FACTS } from "../core/plan.ts"
import type { NewRun } from "../core/run.ts"
import type { Schedule } from "../core/schedule.ts"
import { describeThrown } from "../core/thrown.ts"
import type { Store } from "../store/store.ts"
import type { Clock } from "./clock.ts"
import type { Events } from "./events.ts"
import { needsFacts, readFacts } from "./facts.ts"
import { cancelsOf, delayUntil, isoOrNull } from "./firing.ts"
import type { Logger } from "./logger.ts"
import { Loop } from "./loop.ts"

/**
 * Fires schedules from this process's memory: those declared `local`, and, while stored schedules can't be read, the ones
 * this process declares in code. Every process does the same; a run's id is made of schedule and occurrence, so the store
 * keeps one of each, also when the stored schedule catches up later.
 */
export class LocalFiring {
  readonly #context: LocalFiringContext
  readonly #local = new Map<string, Schedule>()
  readonly #standIns = new Map<string, Schedule>()
  readonly #loop: Loop

  constructor(context: LocalFiringContext) {
    this.#context = context
    this.#loop = new Loop({
      clock: context.clock,
      longestSleepMs: context.pollMs,
      turn: () => this.#turn(),
      onFault: (error, count) => {
        if (count === 1)
          context.logger.error(
            { component: "local-firing", error: describeThrown(error) },
            "Runs can't be written; trying again",
          )
        context.events.error(error, "local-firing")
      },
    })
  }

  start(local: readonly Schedule[]): void {
    for (const schedule of local) this.#local.set(schedule.id, schedule)
    this.#loop.start()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  /** Stored schedules can't be read since then: go on with these, as they were last seen. */
  standIn(schedules: Iterable<Schedule>, since: Instant): void {
    if (this.#standIns.size > 0) return
    for (const schedule of schedules) this.#standIns.set(schedule.id, standInFor(schedule, since))
    if (this.#standIns.size === 0) return
    const { logger } = this.#context
    logger.warn(
      { component: "local-firing", schedules: this.#standIns.size },
      "Firing declared schedules from memory",
    )
    this.#loop.wake()
  }

  /** They can be read again, and whatever was fired meanwhile is found there by its id. */
  stepBack(): void {
    if (this.#standIns.size === 0) return
    this.#standIns.clear()
    this.#context.logger.info({ component: "local-firing" }, "Stored schedules fire again")
  }

  async #turn(): Promise<number> {
    const { store, clock } = this.#context
    const schedules = [...this.#local.values(), ...this.#standIns.values()]
    if (schedules.length === 0) return Number.POSITIVE_INFINITY
    const now = await store.now()
    const readAt = clock.monotonic()
    for (const schedule of schedules) {
      if (schedule.nextRunAt === null || schedule.nextRunAt > now) continue
      const facts = needsFacts(schedule) ? await readFacts(store, schedule) : NO_FACTS
      await this.#fire(schedule, planFire(schedule, facts, now))
    }
    const times = [...this.#local.values(), ...this.#standIns.values()].map(
      ({ nextRunAt }) => nextRunAt ?? Number.POSITIVE_INFINITY,
    )
    return delayUntil(Math.min(...times), now, clock.monotonic() - readAt)
  }

  async #fire(schedule: Schedule, plan: FirePlan): Promise<void> {
    const { store, events, logger, onFired } = this.#context
    // What a stand-in is too late for is left to the stored schedule, and so are its records.
    const runs = this.#standIns.has(schedule.id)
      ? plan.runs.filter((run) => run.state === "pending")
      : plan.runs
    const cancels = cancelsOf(plan)
    if (cancels.length > 0) await store.transition(cancels)
    const answers = runs.length === 0 ? [] : await store.enqueue(runs)
    const held: NewRun[] = []
    runs.forEach((run, index) => {
      const { outcome, runId } = answers[index]!
      if (outcome === "held") held.push(overlapRecord(schedule, run, runId))
      if (outcome === "created" && run.state === "pending") {
        logger.info(
          {
            component: "local-firing",
            scheduleId: schedule.id,
            task: run.task,
            runId,
            priority: run.priority,
            nextRunAt: isoOrNull(plan.progress?.nextRunAt ?? null),
          },
          "Fired",
        )
        events.emit(run, { type: "created" })
        onFired()
      }
    })
    if (held.length > 0) await store.enqueue(held)
    const fired = { ...schedule, ...plan.progress }
    if (this.#local.has(schedule.id)) this.#local.set(schedule.id, fired)
    else if (this.#standIns.has(schedule.id)) this.#standIns.set(schedule.id, fired)
  }
}

/**
 * Two reads that run into their deadline, and a little more. If nothing could be written either, the loops recover at
 * about the same time; what is older by then belongs to the stored schedule, which knows how many it stands for.
 */
const STAND_IN_GRACE_MS = 15 * SECOND

/**
 * Fires what is due from `since` on, and only on time. Older occurrences may have been fired by others long ago, even run
 * and forgotten; only the stored schedule knows.
 */
function standInFor(schedule: Schedule, since: Instant): Schedule {
  const { coveredUntil, catchUp, paused, enabled } = schedule
  const current = { ...schedule, coveredUntil: Math.max(coveredUntil ?? since, since) }
  const next = paused === null && enabled ? occurrenceAfter(current, current.coveredUntil) : null
  return {
    ...current,
    catchUp: { ...catchUp, policy: "none", graceMs: STAND_IN_GRACE_MS },
    nextRunAt: next?.dueAt ?? null,
  }
}

function overlapRecord(schedule: Schedule, run: NewRun, holder: string): NewRun {
  const at = run.scheduledFor!
  return skipRecordOf(
    schedule,
    { from: at, until: at, count: 1 },
    { reason: "overlap", message: `Still unfinished: ${holder}` },
  )
}

export interface LocalFiringContext {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly events: Events
  readonly pollMs: number
  /** A run was created. */
  onFired(): void
}
