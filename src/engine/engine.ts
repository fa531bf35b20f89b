import { BelfryError } from "../core/errors.ts"
import type { Schedule } from "../core/schedule.ts"
import { describeThrown } from "../core/thrown.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import { version } from "../runtime/version.ts"
import {
  type Hint,
  kindOfStore,
  type Store,
  type WorkerDescription,
  type WorkerRole,
} from "../store/store.ts"
import type { AnyTask } from "../task/task.ts"
import { DeclaredSchedules } from "./declared-schedules.ts"
import type { Events } from "./events.ts"
import { Firing } from "./firing.ts"
import { LeaseKeeper } from "./lease-keeper.ts"
import { LocalFiring } from "./local-firing.ts"
import type { Loop } from "./loop.ts"
import { createPruning, type Retention } from "./pruning.ts"
import type { StatisticsBuffer } from "./statistics-buffer.ts"
import { TimeLimit } from "./time-limit.ts"
import { UnofferedTasks } from "./unoffered-tasks.ts"
import { Worker } from "./worker.ts"

/** What a process does: turn due schedules into runs, perform runs, or both. */
export type Role = WorkerRole

const PRUNE_EVERY_MS = 10 * 60_000

/** After the timeout of a stop: what it takes to give runs back, to say goodbye and to close the store. */
const LEAVE_MS = 3_000

const FORGOTTEN =
  "The store has lost what it had confirmed: it was emptied, restored from an older copy, or replaced by a replica that was behind. What this process declares is stored again; what was due in the time that is lost may happen again."

/** The loops of one process, started and stopped together, and woken by the store's hints. */
export class Engine {
  readonly #context: EngineContext
  readonly #firing: Firing
  readonly #local: LocalFiring
  readonly #leaseKeeper: LeaseKeeper
  readonly #worker: Worker
  readonly #pruning: Loop
  readonly #declared: DeclaredSchedules
  readonly #unoffered: UnofferedTasks
  readonly #hintListeners = new Set<(hint: Hint) => void>()
  #roles: readonly Role[] = []
  #isRunning = false
  #isOver = false
  #stopListening: () => Promise<void> = async () => undefined

  constructor(context: EngineContext) {
    this.#context = context
    const leases = context.tasks.map(({ leaseMs }) => leaseMs ?? context.leaseMs)
    const leaseMs = Math.max(context.leaseMs, ...leases)
    this.#leaseKeeper = new LeaseKeeper({ ...context, leaseMs, describe: () => this.#describe() })
    this.#worker = new Worker({ ...context, id: context.worker, leaseKeeper: this.#leaseKeeper })
    // Some stores give no hints: what this process fires, its own worker must not wait for.
    this.#local = new LocalFiring({
      ...context,
      onFired: () => this.#worker.wake(),
      onReachable: () => this.#firing.tryAgain(),
    })
    this.#declared = new DeclaredSchedules({
      ...context,
      onRead: (schedules) => this.#local.refresh(schedules),
    })
    this.#unoffered = new UnofferedTasks(context)
    this.#pruning = createPruning({ ...context, everyMs: PRUNE_EVERY_MS })
    this.#firing = new Firing({
      ...context,
      onFired: (schedule, plan) => {
        if (plan.runs.some(({ state }) => state === "pending")) {
          this.#worker.wake()
          this.#unoffered.onFired(schedule.task)
        }
        this.#declared.onFired(schedule, plan)
      },
      onOutage: (since) => this.#local.standIn(this.#declared.seen, since),
      onRecovery: () => this.#local.stepBack(),
    })
  }

  async start(about: {
    roles: readonly Role[] | null
    /** The ids of the stored schedules that this process's code declares. */
    declared: readonly string[]
    local: readonly Schedule[]
  }): Promise<void> {
    const { store, worker, tasks, logger, events } = this.#context
    this.#checkNotOver()
    this.#roles = rolesOf(about.roles, this.#context)
    this.#isRunning = true
    await this.#listen()
    this.#checkNotOver()
    this.#declared.start(about.declared)
    if (this.#roles.length > 0) this.#leaseKeeper.start()
    if (this.#roles.includes("fire")) {
      this.#firing.start()
      this.#unoffered.start(this.#roles.includes("work") ? tasks.map(({ name }) => name) : [])
      this.#local.start(about.local)
    }
    if (this.#roles.includes("work")) this.#worker.start()
    if (this.#roles.length > 0) this.#pruning.start()
    const kind = kindOfStore(store)
    const facts = { component: "engine", worker, store: kind, roles: this.#roles, tasks: tasks.length }
    const schedules = about.declared.length + about.local.length
    logger.info({ ...facts, schedules }, "The scheduler started")
    events.say("start")
  }

  /**
   * Stops the loops, lets runs finish for as long as the timeout says, and closes the store. Ends by the timeout and
   * `LEAVE_MS`, whether or not the store answers. What it didn't answer is logged.
   */
  async stop(timeoutMs: number, starting: Promise<void> | null): Promise<void> {
    const { clock, events, logger, worker } = this.#context
    const limit = new TimeLimit(clock, timeoutMs + LEAVE_MS)
    if (starting !== null) await limit.allows("start", starting)
    this.#isOver = true
    const wasRunning = this.#isRunning
    if (wasRunning) await this.#stopLoops(timeoutMs, limit)
    this.#isRunning = false
    await this.#close(limit)
    await limit.allows("tasks", this.#closeTasks())
    const { unanswered } = limit
    const facts = { component: "engine", worker }
    if (unanswered.length > 0)
      logger.warn({ ...facts, unanswered }, "The scheduler stopped; not everything ended in time")
    else if (wasRunning) logger.info(facts, "The scheduler stopped")
    if (wasRunning) events.say("stop")
  }

  async #stopLoops(timeoutMs: number, limit: TimeLimit): Promise<void> {
    const { events } = this.#context
    const firing = Promise.all([this.#firing.stop(), this.#local.stop()])
    const others = Promise.all([this.#declared.stop(), this.#unoffered.stop(), this.#pruning.stop()])
    if (this.#roles.includes("work")) await this.#worker.stop(timeoutMs, limit)
    await limit.allows("firing", firing)
    if (this.#roles.length > 0) await this.#leaseKeeper.stop(limit)
    await limit.allows("housekeeping", others)
    const unheard = this.#stopListening().catch((error: unknown) => events.error(error, "hints"))
    await limit.allows("hints", unheard)
  }

  async #close(limit: TimeLimit): Promise<void> {
    const { store, logger } = this.#context
    const closed = store.close().catch((error: unknown) => {
      logger.warn({ component: "store", error: describeThrown(error) }, "The store can't be closed")
    })
    await limit.allows("close", closed)
  }

  async #closeTasks(): Promise<void> {
    const { tasks, logger } = this.#context
    for (const task of tasks) {
      try {
        await task.close?.()
      } catch (error) {
        const facts = { component: "engine", task: task.name, error: describeThrown(error) }
        logger.warn(facts, "What a task keeps can't be closed")
      }
    }
  }

  /** A start that the store answers only after the stop has ended. */
  #checkNotOver(): void {
    if (!this.#isOver) return
    this.#isRunning = false
    throw new BelfryError("BELFRY_STORE_CLOSED", "This scheduler was stopped before its start had ended.")
  }

  get events(): Events {
    return this.#context.events
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  get isProcessing(): boolean {
    return this.#worker.isProcessing
  }

  get isIdle(): boolean {
    return this.#isRunning && (!this.#roles.includes("work") || this.#worker.isIdle)
  }

  #describe(): WorkerDescription {
    const { worker, host, pid, slots, tasks, labels } = this.#context
    const isWorking = this.#roles.includes("work")
    return {
      id: worker,
      host,
      pid,
      slots: isWorking ? slots : 0,
      tasks: isWorking ? tasks.map(({ name }) => name) : [],
      state: this.#worker.isDraining ? "draining" : "active",
      roles: this.#roles,
      version: version(),
      labels,
    }
  }

  /** Calls back with each of the store's hints while this process runs. Returns how to stop. */
  onHint(listener: (hint: Hint) => void): () => void {
    // The same function twice is two listeners.
    const own = (hint: Hint) => listener(hint)
    this.#hintListeners.add(own)
    return () => {
      this.#hintListeners.delete(own)
    }
  }

  /** Something may have become due: look now rather than at the next poll. */
  hint(hint: Hint): void {
    for (const listener of this.#hintListeners) listener(hint)
    if (hint === "schedules") {
      this.#firing.wake()
      this.#declared.wake()
    }
    if (hint === "runs") this.#worker.wake()
    if (hint === "cancelled") this.#worker.check()
    if (hint === "forgotten") this.#recover()
  }

  /** What was due in the time that is lost is due again, and becomes the same runs: their ids are made of schedule and instant. */
  #recover(): void {
    const { logger, events } = this.#context
    const error = new BelfryError("BELFRY_STORE_FORGOT", FORGOTTEN)
    logger.error({ component: "store", code: error.code }, FORGOTTEN)
    events.error(error, "store")
    this.#declared.restore()
    this.#firing.wake()
    this.#worker.wake()
    this.#worker.check()
  }

  /** Hints only make things faster, so a store that can't give any is no reason not to start. */
  async #listen(): Promise<void> {
    const { store, logger, events } = this.#context
    try {
      this.#stopListening = await store.listen((hint) => this.hint(hint))
    } catch (error) {
      logger.warn({ component: "hints", error: describeThrown(error) }, "The store gives no hints; polling")
      events.error(error, "hints")
    }
  }
}

export interface EngineContext {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly events: Events
  readonly tasks: readonly AnyTask[]
  /** This worker's id. */
  readonly worker: string
  readonly host: string
  readonly pid: number
  readonly labels: Readonly<Record<string, string>>
  readonly counting: StatisticsBuffer
  readonly slots: number
  readonly leaseMs: number
  readonly pollMs: number
  readonly nextDelayMs: number
  readonly retention: Retention
}

/** Firing without anybody to perform the runs would only pile them up, so it has to be asked for by name. */
function rolesOf(asked: readonly Role[] | null, { tasks, logger }: EngineContext): readonly Role[] {
  const roles: readonly Role[] = asked ?? ["fire", "work"]
  if (tasks.length > 0) return roles
  const left = asked === null ? [] : roles.filter((role) => role !== "work")
  logger.warn(
    { component: "engine", roles: left },
    `This process defines no task: it performs nothing${left.length === 0 ? " and fires nothing" : ""}`,
  )
  return left
}
