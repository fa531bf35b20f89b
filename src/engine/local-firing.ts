import { BelfryError } from "../core/errors.ts"
import { planFire } from "../core/fire.ts"
import type { Instant } from "../core/instant.ts"
import { skipRecordOf } from "../core/new-run.ts"
import { cancelsOf, type FireFacts, NO_FACTS, type Plan } from "../core/plan.ts"
import type { NewRun } from "../core/run.ts"
import type { Schedule } from "../core/schedule.ts"
import { planStandIn, type StandIn, standInAfter, standInFor } from "../core/stand-in.ts"
import { describeThrown } from "../core/thrown.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Store } from "../store/store.ts"
import { cancelAll } from "./cancelling.ts"
import type { Events } from "./events.ts"
import { needsFacts, plannedBy, readFacts, readRecorded } from "./facts.ts"
import { isoOrNull } from "./firing.ts"
import { delayUntil, Loop } from "./loop.ts"

/**
 * Fires schedules from this process's memory: those declared `local`, and, while stored schedules can't be read, the ones
 * this process declares in code. Every process does the same; a run's id is made of schedule and occurrence, so the store
 * keeps one of each, also when the stored schedule catches up later.
 */
export class LocalFiring {
  readonly #context: LocalFiringContext
  readonly #local = new Map<string, Local>()
  readonly #standIns = new Map<string, StandIn>()
  /** The store may have been away altogether. Until `Firing` has tried once more, stored schedules go first. */
  #mustAskFiring = false
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
    for (const schedule of local) this.#local.set(schedule.id, { schedule })
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
    this.#mustAskFiring = true
    const { logger } = this.#context
    logger.warn(
      { component: "local-firing", schedules: this.#standIns.size },
      "Firing declared schedules from memory",
    )
    this.#loop.wake()
  }

  /** The declared ones could be read after all, though perhaps not all that firing needs: a pause made meanwhile counts. */
  refresh(schedules: readonly Schedule[]): void {
    if (this.#standIns.size === 0) return
    const stored = new Map(schedules.map((schedule) => [schedule.id, schedule]))
    for (const [id, { schedule: standIn }] of this.#standIns) {
      const schedule = stored.get(id)
      if (schedule === undefined) this.#standIns.delete(id)
      else this.#standIns.set(id, standInFor(schedule, standIn.coveredUntil!))
    }
    this.#loop.wake()
  }

  /** They can be read again, and whatever was fired meanwhile is found there by its id. */
  stepBack(): void {
    if (this.#standIns.size === 0) return
    this.#standIns.clear()
    this.#context.logger.warn({ component: "local-firing" }, "Stored schedules fire again")
  }

  async #turn(): Promise<number> {
    const { clock } = this.#context
    if (this.#local.size + this.#standIns.size === 0) return Number.POSITIVE_INFINITY
    const now = await this.#now()
    const readAt = clock.monotonic()
    await fireEach(this.#local, now, (local) => this.#fireLocal(local, now))
    if (await this.#areStoredBack()) return 0
    await fireEach(this.#standIns, now, (standIn) => this.#fireStandIn(standIn, now))
    const times = [...this.#local.values(), ...this.#standIns.values()].map(
      ({ schedule }) => schedule.nextRunAt ?? Number.POSITIVE_INFINITY,
    )
    return delayUntil(Math.min(...times), now, clock.monotonic() - readAt)
  }

  async #now(): Promise<Instant> {
    try {
      return await this.#context.store.now()
    } catch (error) {
      this.#mustAskFiring = true
      throw error
    }
  }

  /**
   * The store can be reached. If it was away altogether, stored schedules can be read again as well. They come first then: they know
   * of a pause that was made meanwhile, and how many occurrences a run stands for.
   */
  async #areStoredBack(): Promise<boolean> {
    if (!this.#mustAskFiring || this.#standIns.size === 0) return false
    const areBack = await this.#context.onReachable()
    this.#mustAskFiring = false
    return areBack
  }

  /** A local schedule has no other ledger: what doesn't run is recorded here. */
  async #fireLocal({ schedule }: Local, now: Instant): Promise<void> {
    const { store } = this.#context
    const facts = await this.#factsOf(schedule)
    const plan = await plannedBy(store, schedule, facts, (known) => planFire(schedule, known, now))
    const held = await this.#enqueue(schedule, plan)
    if (held.length > 0) await store.enqueue(held)
    // After its last occurrence it may be gone.
    if (plan.progress === null) this.#local.delete(schedule.id)
    else this.#local.set(schedule.id, { schedule: { ...schedule, ...plan.progress } })
  }

  /**
   * Runs that are on time, and nothing else: whatever doesn't run now is the stored schedule's to make up for, or to record. So
   * it makes no difference when the stored schedules can be read again, be it in the middle of this.
   */
  async #fireStandIn(standIn: StandIn, now: Instant): Promise<void> {
    const { schedule, recordedAfter } = standIn
    // It was read again, or all can be, since this turn began.
    if (this.#standIns.get(schedule.id) !== standIn) return
    const facts = await this.#factsOf(schedule)
    const recorded =
      recordedAfter === null ? [] : await readRecorded(this.#context.store, schedule.id, recordedAfter)
    const plan = planStandIn(standIn, { ...facts, recorded }, now)
    const runs = plan.runs.filter((run) => run.state === "pending")
    await this.#enqueue(schedule, { ...plan, runs })
    // A schedule that was read again meanwhile stays as it was read.
    if (this.#standIns.get(schedule.id) !== standIn) return
    const next = standInAfter(standIn, plan)
    if (next === null) this.#standIns.delete(schedule.id)
    else this.#standIns.set(schedule.id, next)
  }

  async #factsOf(schedule: Schedule): Promise<FireFacts> {
    return needsFacts(schedule) ? readFacts(this.#context.store, schedule) : NO_FACTS
  }

  /** Returns records of the runs whose live key another run holds. */
  async #enqueue(schedule: Schedule, plan: Plan): Promise<readonly NewRun[]> {
    const { store, events } = this.#context
    const { runs } = plan
    await cancelAll(store, cancelsOf(plan))
    if (runs.length === 0) return []
    const held: NewRun[] = []
    const ids = runs.map(({ id }) => id)
    await events.creating(
      ids,
      () => store.enqueue(runs),
      (answers) =>
        runs.forEach((run, index) => {
          const answer = answers[index]!
          const { outcome, runId } = answer
          if (answer.outcome === "refused") this.#complain(schedule, run, answer.why)
          if (outcome === "held") held.push(overlapRecord(schedule, run, runId))
          if (outcome === "created" && run.state === "pending") this.#report(schedule, run, plan)
        }),
    )
    return held
  }

  #complain(schedule: Schedule, run: NewRun, why: string): void {
    const facts = { component: "local-firing", scheduleId: schedule.id, runId: run.id, error: why }
    this.#context.logger.error(facts, "The store can't keep this run")
    this.#context.events.error(new BelfryError("BELFRY_STORE_REFUSED", why), "firing")
  }

  #report(schedule: Schedule, run: NewRun, plan: Plan): void {
    const { events, logger, onFired } = this.#context
    logger.info(
      {
        component: "local-firing",
        scheduleId: schedule.id,
        task: run.task,
        runId: run.id,
        priority: run.priority,
        nextRunAt: isoOrNull(plan.progress?.nextRunAt ?? null),
      },
      "Fired",
    )
    events.emit(run, { type: "created" })
    onFired()
  }
}

/**
 * One that fails doesn't keep the others from firing, and is the last to be tried next time. Two mean that it isn't about them:
 * the store is away.
 */
async function fireEach<Each extends Local>(
  all: Map<string, Each>,
  now: Instant,
  fire: (each: Each) => Promise<void>,
): Promise<void> {
  const due = [...all].filter(([, { schedule }]) => schedule.nextRunAt !== null && schedule.nextRunAt <= now)
  let failed: { readonly error: unknown } | null = null
  for (const [id, each] of due) {
    try {
      await fire(each)
    } catch (error) {
      if (all.delete(id)) all.set(id, each)
      if (failed !== null) throw error
      failed = { error }
    }
  }
  if (failed !== null) throw failed.error
}

/** A schedule that is in no store. */
interface Local {
  readonly schedule: Schedule
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
  /** The store answers again, after it was away altogether. Resolves to whether stored schedules can be read. */
  onReachable(): Promise<boolean>
}
