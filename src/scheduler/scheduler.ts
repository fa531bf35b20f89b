import { hostname } from "node:os"
import { checked, checkedValue } from "../core/checked.ts"
import { newSchedule } from "../core/definition.ts"
import type { Duration } from "../core/duration.ts"
import { BelfryError } from "../core/errors.ts"
import { MINUTE, SECOND } from "../core/instant.ts"
import { callback, choice, required } from "../core/kinds.ts"
import type { Declared } from "../core/reconcile.ts"
import { planAnew } from "../core/steer.ts"
import { Counting } from "../engine/counting.ts"
import { Engine, type Role } from "../engine/engine.ts"
import { type EventName, Events, type Listener } from "../engine/events.ts"
import { DEFAULT_RETENTION } from "../engine/pruning.ts"
import { type Clock, systemClock } from "../runtime/clock.ts"
import { harmlessLogger, jsonLogger, type Logger } from "../runtime/logger.ts"
import { accepted } from "../store/refused.ts"
import type { Hint, Store } from "../store/store.ts"
import type { DeclaredSchedule } from "../task/declared-schedule.ts"
import type { AnyTask, Task } from "../task/task.ts"
import {
  checkDeclaredPayloads,
  type DeclaredSet,
  defineDeclared,
  type ReconcileReport,
  reconcileDeclared,
} from "./declared.ts"
import { withOwnHints } from "./hinting-store.ts"
import { Journal } from "./journal.ts"
import { type Listing, listing } from "./listing.ts"
import {
  type EnqueueArguments,
  type Enqueued,
  type EnqueueOptions,
  newRunFor,
  newRunsFor,
} from "./runs/enqueue.ts"
import { EnqueueBatches } from "./runs/enqueue-batches.ts"
import { Runs } from "./runs/runs.ts"
import {
  checkedSchedulerOptions,
  doorOf,
  type GivenOptions,
  HOOK_TABLE,
  RECONCILE_OPTIONS,
  type SchedulerOptions,
  START_OPTIONS,
  STOP_OPTIONS,
  type StartOptions,
  WORKERS_PAGE,
} from "./scheduler-options.ts"
import { dependenciesOf, missingAmong } from "./schedules/dependencies.ts"
import { Schedules } from "./schedules/schedules.ts"
import { readStatistics, type StatisticsQuery, type StatisticsView } from "./statistics.ts"
import type { WorkerView } from "./views.ts"
import { type Parts, WithinTransaction } from "./within.ts"
import { Workers } from "./workers.ts"

/** The object users hold. Nothing happens before `start`; a process that never starts may still enqueue and ask. */
export class Scheduler {
  readonly schedules: Schedules
  readonly runs: Runs
  readonly journal: Journal
  readonly #given: Store
  readonly #store: Store
  readonly #enqueuing: EnqueueBatches
  readonly #parts: Parts
  readonly #logger: Logger
  readonly #tasks: ReadonlyMap<string, AnyTask>
  readonly #declared: readonly DeclaredSchedule[]
  readonly #set: DeclaredSet
  readonly #local: readonly Declared[]
  readonly #workers: Workers
  readonly #engine: Engine
  #opening: Promise<void> | null = null
  #starting: Promise<void> | null = null
  #stopping: Promise<void> | null = null

  constructor(options: SchedulerOptions) {
    const given = checkedSchedulerOptions(options)
    const { store, clock = systemClock, owner = "code", release = 0 } = given
    const logger = harmlessLogger(given.logger ?? jsonLogger())
    this.#given = store
    this.#logger = logger
    const named = given.tasks ?? []
    // A declared schedule brings its task, and a task that says when brings its schedule.
    this.#declared = [...(given.schedules ?? []), ...named.flatMap(({ schedules = [] }) => schedules)]
    const brought = this.#declared.map(({ task }) => task).filter((task) => !named.includes(task))
    this.#tasks = tasksByName([...named, ...new Set(brought)])
    const about = { owner, release }
    const defined = defineDeclared(this.#declared, about)
    const isLocal = new Set(this.#declared.filter((schedule) => schedule.isLocal).map(({ id }) => id))
    this.#local = defined.filter(({ id }) => isLocal.has(id))
    const prune = given.prune ?? given.owner !== undefined
    this.#set = { owner, release, prune, declared: defined.filter(({ id }) => !isLocal.has(id)) }
    const rhythm = { leaseMs: given.lease ?? 30 * SECOND, pollMs: given.pollInterval ?? MINUTE }
    this.#workers = new Workers(store)
    const tasks = [...this.#tasks.values()]
    this.#engine = engineOf(given, { ...rhythm, store, clock, logger, tasks })
    const ready = () => this.#open()
    this.#store = withOwnHints(store, (hint) => this.#engine.hint(hint))
    this.#enqueuing = new EnqueueBatches(this.#store)
    this.#parts = { clock, tasks: this.#tasks, declared: dependenciesOf(defined), ready }
    this.schedules = new Schedules({ ...this.#parts, store: this.#store })
    const onHint = (listener: (hint: Hint) => void) => this.#engine.onHint(listener)
    this.runs = new Runs({ store: this.#store, clock, ready, onHint })
    this.journal = new Journal({ store, ready })
  }

  /** Reconciles what is declared, then fires and works. Starting twice is starting once. */
  start(options: StartOptions = {}): Promise<void> {
    const given = checked(options, START_OPTIONS, doorOf("start"))
    if (this.#stopping !== null) return Promise.reject(stopped())
    this.#starting ??= this.#start(given.roles ?? null).catch((error: unknown) => {
      this.#starting = null
      throw error
    })
    return this.#starting
  }

  /**
   * Takes nothing new, waits for what is running up to the time given (30 seconds unless said), then aborts the rest and
   * gives it back at once. Closes the store. Ends at most 3 seconds after that time, whether or not the store answers.
   * Stopping twice is stopping once.
   */
  stop(options: { timeout?: Duration } = {}): Promise<void> {
    const { timeout = 30 * SECOND } = checked(options, STOP_OPTIONS, doorOf("stop"))
    this.#stopping ??= this.#engine.stop(timeout, this.#starting)
    return this.#stopping
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  /** One run of a task, now or later, without a schedule. Calls that are made at the same time travel together. */
  enqueue<Input>(task: Task<Input, unknown>, ...rest: EnqueueArguments<Input>): Promise<Enqueued>
  /** By name, for a task that other processes define: its payload is checked when it runs. */
  enqueue(task: string, options?: EnqueueOptions): Promise<Enqueued>
  async enqueue(task: AnyTask | string, options: EnqueueOptions = {}): Promise<Enqueued> {
    const run = await newRunFor(task, { ...this.#parts, options })
    await this.#open()
    return accepted(await this.#enqueuing.enqueue(run))
  }

  /** Many runs of a task. All are checked before any is stored; the answers are in their order. */
  enqueueMany<Input>(
    task: Task<Input, unknown>,
    runs: readonly EnqueueOptions<Input>[],
  ): Promise<readonly Enqueued[]>
  enqueueMany(task: string, runs: readonly EnqueueOptions[]): Promise<readonly Enqueued[]>
  async enqueueMany(task: AnyTask | string, runs: readonly EnqueueOptions[]): Promise<readonly Enqueued[]> {
    const newRuns = await newRunsFor(task, runs, this.#parts)
    await this.#open()
    const answers = await Promise.all(newRuns.map((run) => this.#enqueuing.enqueue(run)))
    return answers.map(accepted)
  }

  /**
   * Enqueues and changes schedules inside a transaction of yours, on the database that the store is in: what is done through
   * it comes with your commit, or not at all.
   */
  within(transaction: unknown): WithinTransaction {
    return new WithinTransaction(this.#given, transaction, this.#parts)
  }

  /** Makes the store's schedules of this owner those declared; with `dryRun`, only says what would happen. */
  async reconcile(options: { dryRun?: boolean } = {}): Promise<ReconcileReport> {
    const { dryRun = false } = checked(options, RECONCILE_OPTIONS, doorOf("reconcile"))
    await this.#open()
    return reconcileDeclared(this.#store, this.#set, { dryRun, logger: this.#logger })
  }

  /**
   * Every process that fires or works on this store, by id. Each says itself by when it is to be heard
   * of again: one that wasn't is silent.
   */
  workers(page: { limit?: number; cursor?: string } = {}): Listing<WorkerView> {
    const { cursor = null, limit = 100 } = checked(page, WORKERS_PAGE, doorOf("workers"))
    return listing({
      limit,
      first: cursor,
      read: async (afterId, size) => {
        await this.#open()
        return this.#workers.list({ afterId, limit: size })
      },
      placeOf: ({ id }) => id,
      show: (worker) => worker,
    })
  }

  /** How runs have gone, of all, of a task or of a schedule: counts, durations and lateness, in buckets of time. */
  async statistics(query: StatisticsQuery = {}): Promise<StatisticsView> {
    await this.#open()
    return readStatistics(this.#store, query)
  }

  /** Listens to what a hook of that name is told. Returns how to stop listening. */
  on<Name extends EventName>(event: Name, listener: Listener<Name>): () => void {
    checkedValue(event, required(choice(...(Object.keys(HOOK_TABLE) as EventName[]))), {
      ...{ door: doorOf("on"), option: "event" },
    })
    checkedValue(listener, required(callback()), { door: doorOf("on"), option: "listener" })
    return this.#engine.events.on(event, listener)
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

  #open(): Promise<void> {
    this.#opening ??= this.#store.open().catch((error: unknown) => {
      this.#opening = null
      throw error
    })
    return this.#opening
  }

  async #start(roles: readonly Role[] | null): Promise<void> {
    await this.#open()
    await checkDeclaredPayloads(this.#declared)
    await this.#warnOfMissing()
    if (this.#set.declared.length > 0 || this.#set.prune) await this.reconcile()
    const now = await this.#store.now()
    await this.#engine.start({
      roles,
      declared: this.#set.declared.map(({ id }) => id),
      // Anchored at the epoch, so that every process counts intervals alike.
      local: this.#local.map(({ id, definition }) =>
        planAnew({ ...newSchedule(id, definition, now), createdAt: 0 }, now),
      ),
    })
    if (roles === null || roles.includes("work"))
      for (const task of this.#tasks.values()) task.onStart?.(this.#logger)
  }

  /** Not refused: the schedule may be another program's, which is deployed a moment later. */
  async #warnOfMissing(): Promise<void> {
    const declared = [...this.#set.declared, ...this.#local]
    const known = dependenciesOf(declared)
    const wanted = [...known.values()].flat()
    const missing = await missingAmong(this.#store, new Set(wanted.filter((id) => !known.has(id))))
    if (missing.length === 0) return
    const text =
      "Declared schedules depend on schedules that don't exist: their occurrences are skipped until those succeed"
    this.#logger.warn({ component: "reconcile", missing }, text)
  }
}

/** Makes a scheduler. Mistakes in tasks and schedules are thrown here; nothing is started. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  return new Scheduler(options)
}

function stopped(): BelfryError {
  return new BelfryError("BELFRY_STORE_CLOSED", "This scheduler was stopped; create a new one.")
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

function engineOf(
  { concurrency = 10, nextDelay = 0, retention, hooks = {}, labels = {} }: GivenOptions,
  parts: {
    store: Store
    clock: Clock
    logger: Logger
    tasks: readonly AnyTask[]
    leaseMs: number
    pollMs: number
  },
): Engine {
  const host = hostname()
  const counting = new Counting(parts.clock)
  return new Engine({
    ...parts,
    worker: `${host}:${process.pid}:${parts.clock.newId().slice(-8)}`,
    host,
    pid: process.pid,
    counting,
    events: new Events(hooks, parts.logger, counting),
    labels,
    slots: concurrency,
    nextDelayMs: nextDelay,
    retention: {
      olderThanMs: retention?.age ?? DEFAULT_RETENTION.olderThanMs,
      keepPerSchedule: retention?.perSchedule ?? DEFAULT_RETENTION.keepPerSchedule,
    },
  })
}
