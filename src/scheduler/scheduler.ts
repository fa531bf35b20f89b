import { hostname } from "node:os"
import { newSchedule } from "../core/definition.ts"
import { type Duration, parseDuration } from "../core/duration.ts"
import { BelfryError } from "../core/errors.ts"
import { MINUTE, SECOND } from "../core/instant.ts"
import type { Rhythm } from "../core/liveness.ts"
import type { Declared } from "../core/reconcile.ts"
import { planAnew } from "../core/steer.ts"
import { type Clock, systemClock } from "../engine/clock.ts"
import { Engine, type Role } from "../engine/engine.ts"
import { Events, type Hooks } from "../engine/events.ts"
import { jsonLogger, type Logger } from "../engine/logger.ts"
import { DEFAULT_RETENTION } from "../engine/pruning.ts"
import { type AnyTask, type DeclaredSchedule, LEASE_MIN_MS, type Task } from "../engine/task.ts"
import type { Store } from "../store/store.ts"
import {
  checkDeclaredPayloads,
  type DeclaredSet,
  defineDeclared,
  type ReconcileReport,
  reconcileDeclared,
} from "./declared.ts"
import type { Enqueued, EnqueueOptions } from "./enqueue.ts"
import { withOwnHints } from "./hinting-store.ts"
import { Runs } from "./runs.ts"
import { Schedules } from "./schedules.ts"
import { type WorkerView, workerView } from "./views.ts"
import { enqueueOne, WithinTransaction } from "./within.ts"

export interface SchedulerOptions {
  readonly store: Store
  readonly tasks?: readonly AnyTask[]
  /** Declared in code: reconciled with the store at start. */
  readonly schedules?: readonly DeclaredSchedule[]
  /** Whose code this is. Several applications on one store need one each. */
  readonly owner?: string
  /** Rises with each deploy: processes of an older release then leave the newer one's schedules alone. */
  readonly release?: number
  /** Delete stored schedules of this owner that are no longer declared. On if an `owner` is named. */
  readonly prune?: boolean
  /** How many runs this process performs at once; 10 unless said. */
  readonly concurrency?: number
  /** How long a worker may be silent before its runs are taken over; 30 seconds unless said. */
  readonly lease?: Duration
  /** However quiet the store is, look this often; 60 seconds unless said. Hints and timers make it faster. */
  readonly pollInterval?: Duration
  /** At least this long between two claims; none unless said. */
  readonly nextDelay?: Duration
  /** How long finished runs are kept (30 days), and how many of each schedule stay whatever their age (100). */
  readonly retention?: { readonly age?: Duration; readonly perSchedule?: number }
  readonly hooks?: Hooks
  /** A pino logger fits. Warnings and errors go to standard error unless said. */
  readonly logger?: Logger
  readonly clock?: Clock
}

export interface StartOptions {
  /** `fire`: turn due schedules into runs. `work`: perform runs of this process's tasks. Both unless said. */
  readonly roles?: readonly Role[]
}

/** The arguments after the task: the payload may be left out where the task accepts nothing. */
export type EnqueueArguments<Input> = undefined extends Input
  ? [payload?: Input, options?: EnqueueOptions]
  : [payload: Input, options?: EnqueueOptions]

/** The object users hold. Nothing happens before `start`; a process that never starts may still enqueue and ask. */
export class Scheduler {
  readonly schedules: Schedules
  readonly runs: Runs
  readonly #given: Store
  readonly #store: Store
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #tasks: ReadonlyMap<string, AnyTask>
  readonly #declared: readonly DeclaredSchedule[]
  readonly #set: DeclaredSet
  readonly #local: readonly Declared[]
  readonly #rhythm: Rhythm
  readonly #engine: Engine
  #opening: Promise<void> | null = null
  #starting: Promise<void> | null = null
  #stopping: Promise<void> | null = null

  constructor(options: SchedulerOptions) {
    const { store, clock = systemClock, logger = jsonLogger(), owner = "code", release = 0 } = options
    this.#given = store
    this.#clock = clock
    this.#logger = logger
    this.#tasks = tasksByName(options.tasks ?? [])
    this.#declared = options.schedules ?? []
    const about = { tasks: this.#tasks, owner, release }
    const defined = defineDeclared(this.#declared, about)
    const isLocal = new Set(this.#declared.filter((schedule) => schedule.isLocal).map(({ id }) => id))
    this.#local = defined.filter(({ id }) => isLocal.has(id))
    const prune = options.prune ?? options.owner !== undefined
    this.#set = { owner, release, prune, declared: defined.filter(({ id }) => !isLocal.has(id)) }
    this.#rhythm = rhythmOf(options)
    const tasks = [...this.#tasks.values()]
    this.#engine = engineOf(options, { ...this.#rhythm, store, clock, logger, tasks })
    const ready = () => this.#open()
    this.#store = withOwnHints(store, (hint) => this.#engine.hint(hint))
    this.schedules = new Schedules({ store: this.#store, clock, tasks: this.#tasks, ready })
    this.runs = new Runs({ store: this.#store, clock, ready })
  }

  /** Reconciles what is declared, then fires and works. Starting twice is starting once. */
  start(options: StartOptions = {}): Promise<void> {
    this.#starting ??= this.#start(options).catch((error: unknown) => {
      this.#starting = null
      throw error
    })
    return this.#starting
  }

  /**
   * Takes nothing new, waits for what is running up to the time given (30 seconds unless said), then aborts the rest and
   * gives it back at once. Closes the store. Stopping twice is stopping once.
   */
  stop(options: { timeout?: Duration } = {}): Promise<void> {
    const timeoutMs =
      options.timeout === undefined ? 30 * SECOND : parseDuration(options.timeout, "stop timeout")
    this.#stopping ??= this.#stop(timeoutMs)
    return this.#stopping
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  /** One run of a task, now or later, without a schedule. */
  enqueue<Input>(task: Task<Input, unknown>, ...rest: EnqueueArguments<Input>): Promise<Enqueued>
  /** By name, for a task that other processes define: its payload is checked when it runs. */
  enqueue(task: string, payload?: unknown, options?: EnqueueOptions): Promise<Enqueued>
  async enqueue(task: AnyTask | string, payload?: unknown, options: EnqueueOptions = {}): Promise<Enqueued> {
    await this.#open()
    return enqueueOne(this.#store, { clock: this.#clock, tasks: this.#tasks }, task, payload, options)
  }

  /**
   * Enqueues and changes schedules inside a transaction of yours, on the database that the store is in: what is done through
   * it comes with your commit, or not at all.
   */
  within(transaction: unknown): WithinTransaction {
    const ready = () => this.#open()
    return new WithinTransaction(this.#given, transaction, { clock: this.#clock, tasks: this.#tasks, ready })
  }

  /** Makes the store's schedules of this owner those declared; with `dryRun`, only says what would happen. */
  async reconcile(options: { dryRun?: boolean } = {}): Promise<ReconcileReport> {
    await this.#open()
    return reconcileDeclared(this.#store, this.#set, {
      dryRun: options.dryRun ?? false,
      logger: this.#logger,
    })
  }

  /**
   * Everyone who works on this store, by id; `after` is the last id seen. Who is silent is judged by this scheduler's own
   * lease and poll interval: give it those of the workers.
   */
  async workers(page: { after?: string; limit?: number } = {}): Promise<readonly WorkerView[]> {
    await this.#open()
    const { after = null, limit = 100 } = page
    const workers = await this.#store.findWorkers({ afterId: after, limit: Math.min(limit, 1_000) })
    // Read after the workers: a beat in between makes nobody look silent.
    const now = await this.#store.now()
    return workers.map((worker) => workerView(worker, this.#rhythmOf(worker.tasks), now))
  }

  /** Between `start` and `stop`. */
  get isRunning(): boolean {
    return this.#engine.isRunning
  }

  /** At least one run is being performed here. */
  get isProcessing(): boolean {
    return this.#engine.isProcessing
  }

  /** Running, and the last look found nothing to do. */
  get isIdle(): boolean {
    return this.#engine.isIdle
  }

  /** Tasks that nobody defines here have the usual lease. */
  #rhythmOf(tasks: readonly string[]): Rhythm {
    const leases = tasks.map((name) => this.#tasks.get(name)?.leaseMs ?? this.#rhythm.leaseMs)
    return { ...this.#rhythm, leaseMs: Math.max(this.#rhythm.leaseMs, ...leases) }
  }

  #open(): Promise<void> {
    this.#opening ??= this.#store.open().catch((error: unknown) => {
      this.#opening = null
      throw error
    })
    return this.#opening
  }

  async #start({ roles }: StartOptions): Promise<void> {
    if (this.#stopping !== null)
      throw new BelfryError("BELFRY_STORE_CLOSED", "This scheduler was stopped; create a new one.")
    await this.#open()
    await checkDeclaredPayloads(this.#declared)
    if (this.#set.declared.length > 0 || this.#set.prune) await this.reconcile()
    const now = await this.#store.now()
    await this.#engine.start({
      roles: roles ?? null,
      declared: this.#set.declared.map(({ id }) => id),
      // Anchored at the epoch, so that every process counts intervals alike.
      local: this.#local.map(({ id, definition }) =>
        planAnew({ ...newSchedule(id, definition, now), createdAt: 0 }, now),
      ),
    })
    if (roles === undefined || roles.includes("work"))
      for (const task of this.#tasks.values()) task.onStart?.(this.#logger)
  }

  async #stop(timeoutMs: number): Promise<void> {
    await this.#starting?.catch(() => undefined)
    await this.#engine.stop(timeoutMs)
    await this.#store.close()
  }
}

/** Makes a scheduler. Mistakes in tasks and schedules are thrown here; nothing is started. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  return new Scheduler(options)
}

function tasksByName(tasks: readonly AnyTask[]): ReadonlyMap<string, AnyTask> {
  const byName = new Map<string, AnyTask>()
  for (const task of tasks) {
    if (byName.has(task.name))
      throw new BelfryError("BELFRY_TASK_INVALID", `Task "${task.name}" is defined twice.`)
    byName.set(task.name, task)
  }
  return byName
}

function rhythmOf({ lease = 30 * SECOND, pollInterval = MINUTE }: SchedulerOptions): Rhythm {
  const leaseMs = parseDuration(lease, "lease")
  const pollMs = parseDuration(pollInterval, "pollInterval")
  check("lease", leaseMs >= LEASE_MIN_MS, leaseMs, `at least ${LEASE_MIN_MS}ms`)
  check("pollInterval", pollMs >= 10, pollMs, "at least 10ms")
  return { leaseMs, pollMs }
}

function engineOf(
  options: SchedulerOptions,
  parts: Rhythm & { store: Store; clock: Clock; logger: Logger; tasks: readonly AnyTask[] },
): Engine {
  const { concurrency = 10, nextDelay = 0, retention = {} } = options
  check(
    "concurrency",
    Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 10_000,
    concurrency,
    "1 to 10000",
  )
  const host = hostname()
  return new Engine({
    ...parts,
    worker: `${host}:${process.pid}:${parts.clock.newId().slice(-8)}`,
    host,
    pid: process.pid,
    events: new Events(options.hooks ?? {}, parts.logger),
    slots: concurrency,
    nextDelayMs: parseDuration(nextDelay, "nextDelay"),
    retention: {
      olderThanMs:
        retention.age === undefined
          ? DEFAULT_RETENTION.olderThanMs
          : parseDuration(retention.age, "retention.age"),
      keepPerSchedule: retention.perSchedule ?? DEFAULT_RETENTION.keepPerSchedule,
    },
  })
}

function check(option: string, isValid: boolean, value: unknown, allowed: string): void {
  if (!isValid)
    throw new BelfryError("BELFRY_SCHEDULER_INVALID", `${option} is ${String(value)}; use ${allowed}.`)
}
