import { hostname } from "node:os"
import { BelfryError } from "../core/errors.ts"
import { checked, checkedValue } from "../core/options/checked.ts"
import { newSchedule } from "../core/options/definition.ts"
import { callback, choice, required } from "../core/options/option-types.ts"
import { replan } from "../core/planning/steer.ts"
import type { Declared } from "../core/schedule/reconcile.ts"
import { storedSchedule } from "../core/schedule/stored-schedule.ts"
import type { Duration } from "../core/time/duration.ts"
import { MINUTE, SECOND } from "../core/time/instant.ts"
import { Engine, type Role } from "../engine/engine.ts"
import { type EventName, Events, type Listener } from "../engine/events.ts"
import { DEFAULT_RETENTION } from "../engine/pruning.ts"
import { StatisticsBuffer } from "../engine/statistics-buffer.ts"
import { type Clock, systemClock } from "../runtime/clock.ts"
import { harmlessLogger, jsonLogger, type Logger } from "../runtime/logger.ts"
import { assertedStore } from "../store/asserted-store.ts"
import type { EnqueueAnswer, Store } from "../store/store.ts"
import { accepted } from "../store/unstorable.ts"
import type { DeclaredSchedule } from "../task/declared-schedule.ts"
import type { DetailsOf } from "../task/output.ts"
import type { AnyTask, Task } from "../task/task.ts"
import {
  checkDeclaredPayloads,
  type DeclaredSet,
  defineDeclared,
  type ReconcileReport,
  reconcileDeclared,
} from "./declared.ts"
import { withOwnHints } from "./hinting-store.ts"
import type { Journal } from "./journal.ts"
import { type Listing, listing } from "./listing.ts"
import { type Overview, overviewOf } from "./overview.ts"
import {
  type EnqueueArguments,
  type EnqueuedRun,
  type EnqueueOptions,
  enqueuedRun,
  newRunFor,
  newRunsFor,
} from "./runs/enqueue.ts"
import { EnqueueBatches } from "./runs/enqueue-batches.ts"
import { MisspeltTasks } from "./runs/misspelt-tasks.ts"
import type { Runs } from "./runs/runs.ts"
import { StoredRuns } from "./runs/stored-runs.ts"
import type { Scheduler } from "./scheduler.ts"
import {
  checkedSchedulerOptions,
  type GivenOptions,
  HOOK_TABLE,
  RECONCILE_OPTIONS,
  type SchedulerOptions,
  START_OPTIONS,
  STOP_OPTIONS,
  type StartOptions,
  sourceOf,
  WORKERS_PAGE,
} from "./scheduler-options.ts"
import { dependenciesOf, missingAmong } from "./schedules/dependencies.ts"
import type { Schedules } from "./schedules/schedules.ts"
import { StoredSchedules } from "./schedules/stored-schedules.ts"
import { type SearchResult, search } from "./search.ts"
import { readStatistics, type StatisticsQuery, type StatisticsView } from "./statistics.ts"
import { StoredJournal } from "./stored-journal.ts"
import { listTasks, type TaskView } from "./tasks.ts"
import type { WorkerView } from "./views.ts"
import { type Parts, WithinTransaction } from "./within.ts"
import { Workers } from "./workers.ts"

/** A scheduler over a store. The methods are documented in `Scheduler` and `Client`. */
class StoreScheduler implements Scheduler {
  readonly schedules: Schedules
  readonly runs: Runs
  readonly journal: Journal
  readonly #given: Store
  readonly #store: Store
  readonly #enqueuing: EnqueueBatches
  readonly #parts: Parts
  readonly #logger: Logger
  readonly #tasks: ReadonlyMap<string, AnyTask>
  readonly #misspelt: MisspeltTasks
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
    const { clock = systemClock, owner = "code", release = 0 } = given
    const store = assertedStore(given.store)
    const logger = harmlessLogger(given.logger ?? jsonLogger())
    this.#given = given.store
    this.#logger = logger
    const named = given.tasks ?? []
    // A declared schedule adds its task, and a task with schedules of its own adds those.
    this.#declared = [...(given.schedules ?? []), ...named.flatMap(({ schedules = [] }) => schedules)]
    const tasksOfSchedules = this.#declared.map(({ task }) => task).filter((task) => !named.includes(task))
    this.#tasks = tasksByName([...named, ...new Set(tasksOfSchedules)])
    this.#misspelt = new MisspeltTasks(this.#tasks, logger)
    const about = { owner, release }
    const defined = defineDeclared(this.#declared, about)
    const localIds = new Set(this.#declared.filter((schedule) => schedule.isLocal).map(({ id }) => id))
    this.#local = defined.filter(({ id }) => localIds.has(id))
    const prune = given.prune ?? given.owner !== undefined
    this.#set = { owner, release, prune, declared: defined.filter(({ id }) => !localIds.has(id)) }
    const intervals = { leaseMs: given.lease ?? 30 * SECOND, pollMs: given.pollInterval ?? MINUTE }
    this.#workers = new Workers(store)
    const tasks = [...this.#tasks.values()]
    this.#engine = engineOf(given, { ...intervals, store, clock, logger, tasks })
    const ready = () => this.#open()
    this.#store = withOwnHints(store, (hint) => this.#engine.hints.notify(hint))
    this.#enqueuing = new EnqueueBatches(this.#store)
    this.#parts = { clock, tasks: this.#tasks, declared: dependenciesOf(defined), ready }
    this.schedules = new StoredSchedules({ ...this.#parts, store: this.#store })
    const { hints } = this.#engine
    this.runs = new StoredRuns({ ...this.#parts, store: this.#store, hints })
    this.journal = new StoredJournal({ store, ready })
  }

  start(options: StartOptions = {}): Promise<void> {
    const given = checked(options, START_OPTIONS, sourceOf("start"))
    if (this.#stopping !== null) return Promise.reject(stopped())
    this.#starting ??= this.#start(given.roles ?? null).catch((error: unknown) => {
      this.#starting = null
      throw error
    })
    return this.#starting
  }

  stop(options: { timeout?: Duration } = {}): Promise<void> {
    const { timeout = 30 * SECOND } = checked(options, STOP_OPTIONS, sourceOf("stop"))
    this.#stopping ??= this.#engine.stop(timeout, this.#starting)
    return this.#stopping
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  enqueue(task: string, options?: EnqueueOptions): Promise<EnqueuedRun>
  enqueue<Input, Given extends AnyTask>(
    task: Given & Task<Input, unknown>,
    ...rest: EnqueueArguments<Input>
  ): Promise<EnqueuedRun<DetailsOf<ReturnType<Given["run"]>>>>
  async enqueue(task: AnyTask | string, options: EnqueueOptions = {}): Promise<EnqueuedRun<never>> {
    const run = await newRunFor(task, { ...this.#parts, options })
    this.#misspelt.warnOf(task)
    await this.#open()
    return this.#enqueued(await this.#enqueuing.enqueue(run))
  }

  enqueueMany(task: string, runs: readonly EnqueueOptions[]): Promise<readonly EnqueuedRun[]>
  enqueueMany<Input, Given extends AnyTask>(
    task: Given & Task<Input, unknown>,
    runs: readonly EnqueueOptions<Input>[],
  ): Promise<readonly EnqueuedRun<DetailsOf<ReturnType<Given["run"]>>>[]>
  async enqueueMany(
    task: AnyTask | string,
    runs: readonly EnqueueOptions[],
  ): Promise<readonly EnqueuedRun<never>[]> {
    const newRuns = await newRunsFor(task, runs, this.#parts)
    this.#misspelt.warnOf(task)
    await this.#open()
    const answers = await this.#enqueuing.enqueueMany(newRuns)
    return answers.map((answer) => this.#enqueued(answer))
  }

  within(transaction: unknown): WithinTransaction {
    return new WithinTransaction(this.#given, transaction, this.#parts)
  }

  async reconcile(options: { dryRun?: boolean } = {}): Promise<ReconcileReport> {
    const { dryRun = false } = checked(options, RECONCILE_OPTIONS, sourceOf("reconcile"))
    await this.#open()
    return reconcileDeclared(this.#store, this.#set, { dryRun, logger: this.#logger })
  }

  workers(page: { limit?: number; cursor?: string } = {}): Listing<WorkerView> {
    const { cursor, limit = 100 } = checked(page, WORKERS_PAGE, sourceOf("workers"))
    const name = "workers"
    return listing({
      name,
      limit,
      first: cursor?.(name) ?? null,
      read: async (afterId, size) => {
        await this.#open()
        return this.#workers.list({ afterId, limit: size })
      },
      placeOf: ({ id }) => id,
      show: (worker) => worker,
    })
  }

  async tasks(): Promise<readonly TaskView[]> {
    await this.#open()
    return listTasks(this, this.#store)
  }

  async overview(): Promise<Overview> {
    await this.#open()
    return overviewOf(this, this.#store)
  }

  search(text: string, options: { limit?: number } = {}): Promise<SearchResult> {
    return search(this, text, options)
  }

  async statistics(query: StatisticsQuery = {}): Promise<StatisticsView> {
    await this.#open()
    return readStatistics(this.#store, query)
  }

  on<Name extends EventName>(event: Name, listener: Listener<Name>): () => void {
    checkedValue(event, required(choice(...(Object.keys(HOOK_TABLE) as EventName[]))), {
      ...{ source: sourceOf("on"), option: "event" },
    })
    checkedValue(listener, required(callback()), { source: sourceOf("on"), option: "listener" })
    return this.#engine.events.on(event, listener)
  }

  get isRunning(): boolean {
    return this.#engine.isRunning
  }

  get isProcessing(): boolean {
    return this.#engine.isProcessing
  }

  get isIdle(): boolean {
    return this.#engine.isIdle
  }

  #enqueued(answer: EnqueueAnswer): EnqueuedRun<never> {
    return enqueuedRun(accepted(answer), (id, options) => this.runs.wait(id, options)) as EnqueuedRun<never>
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
      // Intervals are anchored at the epoch, so that every process computes the same occurrences.
      local: this.#local.map(({ id, definition }) =>
        storedSchedule(replan({ ...newSchedule(id, definition, now), createdAt: 0 }, now), 0),
      ),
    })
    if (roles === null || roles.includes("work"))
      for (const task of this.#tasks.values()) task.onStart?.(this.#logger)
  }

  /** A warning, not an error: another program that is deployed later may declare the missing schedule. */
  async #warnOfMissing(): Promise<void> {
    const declared = [...this.#set.declared, ...this.#local]
    const known = dependenciesOf(declared)
    const wanted = [...known.values()].flat()
    const missing = await missingAmong(this.#store, new Set(wanted.filter((id) => !known.has(id))))
    if (missing.length === 0) return
    const text =
      "Declared schedules depend on schedules that don't exist. Their occurrences are skipped until those schedules succeed"
    this.#logger.warn({ component: "reconcile", missing }, text)
  }
}

/** Creates a scheduler. Throws on mistakes in tasks and schedules. Starts nothing. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  return new StoreScheduler(options)
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
  const statistics = new StatisticsBuffer(parts.clock)
  return new Engine({
    ...parts,
    worker: `${host}:${process.pid}:${parts.clock.newId().slice(-8)}`,
    host,
    pid: process.pid,
    statistics,
    events: new Events(hooks, parts.logger, statistics),
    labels,
    slots: concurrency,
    nextDelayMs: nextDelay,
    retention: {
      olderThanMs: retention?.age ?? DEFAULT_RETENTION.olderThanMs,
      keepPerSchedule: retention?.perSchedule ?? DEFAULT_RETENTION.keepPerSchedule,
    },
  })
}
