import { BelfryError } from "../core/errors.ts"
import { planFire } from "../core/planning/fire.ts"
import { skipRecordOf } from "../core/planning/new-run.ts"
import { cancelsOf, type DueFacts, NO_FACTS, type Plan } from "../core/planning/plan.ts"
import { planStandIn, type StandIn, standInAfter, standInFor } from "../core/planning/stand-in.ts"
import type { NewRun } from "../core/run/run.ts"
import type { Schedule } from "../core/schedule/schedule.ts"
import type { Instant } from "../core/time/instant.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Store } from "../store/store.ts"
import { cancelAll } from "./cancelling.ts"
import type { Events } from "./events.ts"
import { needsFacts, plannedBy, readFacts, readRecorded } from "./facts.ts"
import { isoOrNull } from "./firing.ts"
import { delayUntil, Loop, loopReports } from "./loop.ts"

/**
 * Fires schedules from this process's memory: schedules declared `local`, and, while stored schedules can't be read, the
 * schedules that this process declares in code. Every process does the same. A run's id is made of schedule and occurrence, so
 * the store keeps one run per occurrence, also when the stored schedule catches up later.
 */
export class LocalFiring {
  readonly #context: LocalFiringContext
  readonly #local = new Map<string, Local>()
  readonly #standIns = new Map<string, StandIn>()
  /** The whole store may have been unreachable. `Firing` must try to read stored schedules before stand-ins fire. */
  #mustAskFiring = false
  readonly #loop: Loop

  constructor(context: LocalFiringContext) {
    this.#context = context
    this.#loop = new Loop({
      clock: context.clock,
      longestSleepMs: context.pollMs,
      turn: () => this.#turn(),
      ...loopReports(context, { component: "local-firing", fault: "Runs can't be written; trying again" }),
    })
  }

  start(local: readonly Schedule[]): void {
    for (const schedule of local) this.#local.set(schedule.id, { schedule })
    this.#loop.start()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  /** Stored schedules can't be read since `since`. Fires these instead, as they were last read. */
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

  /** The declared schedules could be read, although firing may still fail. Changes such as a pause apply to the stand-ins. */
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

  /** Stored schedules can be read again. Runs that were fired from memory are found in the store by their ids. */
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
    if (await this.#canReadStored()) return 0
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
   * Asks `Firing` once after the whole store was unreachable. If stored schedules can be read again, they fire instead of the
   * stand-ins: they include a pause made during the outage, and the number of occurrences that a run stands for.
   */
  async #canReadStored(): Promise<boolean> {
    if (!this.#mustAskFiring || this.#standIns.size === 0) return false
    const areBack = await this.#context.onReachable()
    this.#mustAskFiring = false
    return areBack
  }

  /** A local schedule has no stored record, so its skipped occurrences are recorded here. */
  async #fireLocal({ schedule }: Local, now: Instant): Promise<void> {
    const { store } = this.#context
    const facts = await this.#factsOf(schedule)
    const plan = await plannedBy(store, schedule, facts, (known) => planFire(schedule, known, now))
    const held = await this.#enqueue(schedule, plan)
    if (held.length > 0) await store.enqueue(held)
    // A null progress ends the schedule after its last occurrence.
    if (plan.progress === null) this.#local.delete(schedule.id)
    else this.#local.set(schedule.id, { schedule: { ...schedule, ...plan.progress } })
  }

  /**
   * Creates only runs that are on time. The stored schedule catches up with the other occurrences or records them as skipped. So
   * the stored schedules may become readable at any time, even during this call.
   */
  async #fireStandIn(standIn: StandIn, now: Instant): Promise<void> {
    const { schedule, recordedAfter } = standIn
    // The stand-in was refreshed or dropped since this turn began.
    if (this.#standIns.get(schedule.id) !== standIn) return
    const facts = await this.#factsOf(schedule)
    const recorded =
      recordedAfter === null ? [] : await readRecorded(this.#context.store, schedule.id, recordedAfter)
    const plan = planStandIn(standIn, { ...facts, recorded }, now)
    const runs = plan.runs.filter((run) => run.state === "pending")
    await this.#enqueue(schedule, { ...plan, runs })
    // A stand-in that was refreshed during this call is kept as it is.
    if (this.#standIns.get(schedule.id) !== standIn) return
    const next = standInAfter(standIn, plan)
    if (next === null) this.#standIns.delete(schedule.id)
    else this.#standIns.set(schedule.id, next)
  }

  async #factsOf(schedule: Schedule): Promise<DueFacts> {
    return needsFacts(schedule) ? readFacts(this.#context.store, schedule) : NO_FACTS
  }

  /** Returns skip records of the runs whose live key another run holds. */
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
          if (answer.outcome === "unstorable") this.#reportUnstorable(schedule, run, answer.why)
          if (outcome === "held") held.push(overlapRecord(schedule, run, runId))
          if (outcome === "created" && run.state === "pending") this.#report(schedule, run, plan)
        }),
    )
    return held
  }

  #reportUnstorable(schedule: Schedule, run: NewRun, why: string): void {
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
 * A schedule that fails doesn't keep the others from firing, and is tried last at the next turn. A second failure ends the turn:
 * then the store is probably unreachable.
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

/** A schedule that is kept in memory only. */
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
  /** The store answers again after it was unreachable. Resolves to whether stored schedules can be read. */
  onReachable(): Promise<boolean>
}
