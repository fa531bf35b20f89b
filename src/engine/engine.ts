import { BelfryError } from "../core/errors.ts"
import type { Schedule } from "../core/schedule/schedule.ts"
import { describeThrown } from "../core/values/thrown.ts"
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
import { StoreHints } from "./store-hints.ts"
import { TimeLimit } from "./time-limit.ts"
import { UnofferedTasks } from "./unoffered-tasks.ts"
import { Worker } from "./worker.ts"

/** What a process does: turn due schedules into runs, perform runs, or both. */
export type Role = WorkerRole

const PRUNE_EVERY_MS = 10 * 60_000

/** Added to the timeout of a stop: time to give runs back, send the last heartbeat and close the store. */
const LEAVE_MS = 3_000

const STORE_LOST_DATA =
  "The store has lost confirmed writes: it was emptied, restored from an older copy, or replaced by a replica that was behind. Schedules that this process declares are stored again. Occurrences of the lost period may fire again."

/** The loops of one process, started and stopped together, and woken by the store's hints. */
export class Engine {
  readonly hints: StoreHints
  readonly #context: EngineContext
  readonly #firing: Firing
  readonly #local: LocalFiring
  readonly #leaseKeeper: LeaseKeeper
  readonly #worker: Worker
  readonly #pruning: Loop
  readonly #declared: DeclaredSchedules
  readonly #unoffered: UnofferedTasks
  #roles: readonly Role[] = []
  #isRunning = false
  #isOver = false

  constructor(context: EngineContext) {
    this.#context = context
    this.hints = new StoreHints(context)
    this.hints.add((hint) => this.#onHint(hint))
    const leases = context.tasks.map(({ leaseMs }) => leaseMs ?? context.leaseMs)
    const leaseMs = Math.max(context.leaseMs, ...leases)
    this.#leaseKeeper = new LeaseKeeper({ ...context, leaseMs, describe: () => this.#describe() })
    this.#worker = new Worker({ ...context, id: context.worker, leaseKeeper: this.#leaseKeeper })
    // Some stores give no hints. The worker is woken directly, so that it doesn't wait for the next poll.
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
    await this.hints.listen()
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
    events.announce("start")
  }

  /**
   * Stops the loops, lets runs finish for up to `timeoutMs`, and closes the store. Ends after `timeoutMs` and `LEAVE_MS` at the
   * latest, even if the store doesn't answer. Steps that did not finish are logged.
   */
  async stop(timeoutMs: number, starting: Promise<void> | null): Promise<void> {
    const { clock, events, logger, worker } = this.#context
    const limit = new TimeLimit(clock, timeoutMs + LEAVE_MS)
    if (starting !== null) await limit.waitFor("start", starting)
    this.#isOver = true
    const wasRunning = this.#isRunning
    if (wasRunning) await this.#stopLoops(timeoutMs, limit)
    this.#isRunning = false
    await limit.waitFor("hints", this.hints.end())
    await this.#close(limit)
    // Callers that wait for a run read it again, and learn that the store is closed.
    this.hints.notify("ended")
    await limit.waitFor("tasks", this.#closeTasks())
    const { unanswered } = limit
    const facts = { component: "engine", worker }
    if (unanswered.length > 0)
      logger.warn({ ...facts, unanswered }, "The scheduler stopped; some steps did not finish in time")
    else if (wasRunning) logger.info(facts, "The scheduler stopped")
    if (wasRunning) events.announce("stop")
  }

  async #stopLoops(timeoutMs: number, limit: TimeLimit): Promise<void> {
    const firing = Promise.all([this.#firing.stop(), this.#local.stop()])
    const others = Promise.all([this.#declared.stop(), this.#unoffered.stop(), this.#pruning.stop()])
    if (this.#roles.includes("work")) await this.#worker.stop(timeoutMs, limit)
    await limit.waitFor("firing", firing)
    if (this.#roles.length > 0) await this.#leaseKeeper.stop(limit)
    await limit.waitFor("housekeeping", others)
  }

  async #close(limit: TimeLimit): Promise<void> {
    const { store, logger } = this.#context
    const closed = store.close().catch((error: unknown) => {
      logger.warn({ component: "store", error: describeThrown(error) }, "The store can't be closed")
    })
    await limit.waitFor("close", closed)
  }

  async #closeTasks(): Promise<void> {
    const { tasks, logger } = this.#context
    for (const task of tasks) {
      try {
        await task.close?.()
      } catch (error) {
        const facts = { component: "engine", task: task.name, error: describeThrown(error) }
        logger.warn(facts, "The task's resources can't be closed")
      }
    }
  }

  /** The store may answer a start only after the stop has ended. */
  #checkNotOver(): void {
    if (!this.#isOver) return
    this.#isRunning = false
    throw new BelfryError("BELFRY_STORE_CLOSED", "This scheduler was stopped before its start had finished.")
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

  /** Wakes the loops that the hint concerns, so that they don't wait for the next poll. */
  #onHint(hint: Hint): void {
    if (!this.#isRunning) return
    if (hint === "schedules") {
      this.#firing.wake()
      this.#declared.wake()
    }
    if (hint === "runs") this.#worker.wake()
    if (hint === "cancelled") this.#worker.check()
    if (hint === "forgotten") this.#recover()
  }

  /** Occurrences of the lost period are due again. They get the same run ids, because an id is made of schedule and instant. */
  #recover(): void {
    const { logger, events } = this.#context
    const error = new BelfryError("BELFRY_STORE_FORGOT", STORE_LOST_DATA)
    logger.error({ component: "store", code: error.code }, STORE_LOST_DATA)
    events.error(error, "store")
    this.#declared.restore()
    this.#firing.wake()
    this.#worker.wake()
    this.#worker.check()
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
  readonly statistics: StatisticsBuffer
  readonly slots: number
  readonly leaseMs: number
  readonly pollMs: number
  readonly nextDelayMs: number
  readonly retention: Retention
}

/** A process without tasks fires only if `requested` names the role: runs that no worker performs would pile up. */
function rolesOf(requested: readonly Role[] | null, { tasks, logger }: EngineContext): readonly Role[] {
  const roles: readonly Role[] = requested ?? ["fire", "work"]
  if (tasks.length > 0) return roles
  const remaining = requested === null ? [] : roles.filter((role) => role !== "work")
  logger.warn(
    { component: "engine", roles: remaining },
    `This process defines no task: it performs nothing${remaining.length === 0 ? " and fires nothing" : ""}`,
  )
  return remaining
}
