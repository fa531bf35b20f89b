import { BelfryError } from "../core/errors.ts"
import { checked, checkedValue, copied, type OptionType } from "../core/options/checked.ts"
import { duration as durationKind, instant, integer, required } from "../core/options/option-types.ts"
import type { When } from "../core/options/options.ts"
import { type Duration, formatDuration } from "../core/time/duration.ts"
import { HOUR, type Instant, SECOND } from "../core/time/instant.ts"
import type { Hooks, RunEvent } from "../engine/events.ts"
import { systemClock } from "../runtime/clock.ts"
import { silentLogger } from "../runtime/logger.ts"
import { createScheduler } from "../scheduler/create-scheduler.ts"
import type { RunQuery } from "../scheduler/runs/run-options.ts"
import type { Scheduler } from "../scheduler/scheduler.ts"
import type { SchedulerOptions } from "../scheduler/scheduler-options.ts"
import { HOOK_TABLE, SCHEDULER_OPTIONS, sourceOf } from "../scheduler/scheduler-options.ts"
import type { OccurrenceView } from "../scheduler/schedules/preview.ts"
import type { RunView } from "../scheduler/views.ts"
import { createMemoryStore } from "../stores/memory/memory-store.ts"
import { createVirtualClock, type VirtualClock } from "./virtual-clock.ts"

/** The options of `createScheduler` except `store` and `clock`, and those of virtual time. */
export interface TestSchedulerOptions extends Omit<SchedulerOptions, "store" | "clock"> {
  /** Start of virtual time. Default 2026-01-01T00:00:00Z. */
  readonly startAt?: When
  /** Seed of the random numbers for the jitter of retries and the spread of loops. Default 1. */
  readonly seed?: number
  /** Real time to wait for a task that does real work before virtual time goes on without it. Default 1 s. */
  readonly patience?: Duration
}

const { store: _store, clock: _clock, ...SHARED_OPTIONS } = SCHEDULER_OPTIONS

const TEST_SCHEDULER_OPTIONS = {
  ...SHARED_OPTIONS,
  startAt: instant,
  seed: integer(0, 4_294_967_295),
  patience: durationKind(),
} satisfies Record<keyof TestSchedulerOptions, OptionType<unknown>>

const WAIT_OPTIONS = { within: durationKind() }

/** Hooks may be an instance of a class, and a spread would lose its methods. */
function boundHooks(hooks: Hooks): Hooks {
  const names = Object.keys(HOOK_TABLE) as (keyof Hooks)[]
  return Object.fromEntries(names.flatMap((name) => (hooks[name] ? [[name, hooks[name].bind(hooks)]] : [])))
}

/** The production engine over a memory store, on a clock that the test moves: a day passes in milliseconds. */
export async function createTestScheduler(options: TestSchedulerOptions): Promise<TestScheduler> {
  const source = sourceOf("createTestScheduler")
  const given = checked(options, TEST_SCHEDULER_OPTIONS, source)
  const {
    startAt: _startAt,
    seed: _seed,
    patience: _patience,
    ...rest
  } = copied(options, {
    source,
    option: "options",
  })
  const { startAt = Date.UTC(2026, 0, 1), seed = 1, patience = SECOND, hooks = {} } = given
  const clock = createVirtualClock(startAt, seed)
  const inProgress = new RunsInProgress(patience)
  const scheduler = createScheduler({
    logger: silentLogger,
    // The memory store's hints are never lost, so polling isn't needed.
    pollInterval: "6h",
    ...rest,
    store: createMemoryStore(clock),
    clock,
    hooks: {
      ...boundHooks(hooks),
      run(event) {
        inProgress.note(event)
        hooks.run?.(event)
      },
    },
  })
  const test = new TestScheduler(scheduler, clock, inProgress)
  await test.start()
  return test
}

/** A scheduler in virtual time. */
export class TestScheduler {
  /** The scheduler itself: enqueue, schedules, runs and the rest. */
  readonly scheduler: Scheduler
  readonly #clock: VirtualClock
  readonly #inProgress: RunsInProgress

  constructor(scheduler: Scheduler, clock: VirtualClock, inProgress: RunsInProgress) {
    this.scheduler = scheduler
    this.#clock = clock
    this.#inProgress = inProgress
  }

  /** Starts the scheduler. `createTestScheduler` has done this already. */
  async start(): Promise<void> {
    await this.scheduler.start()
    await this.#inProgress.settle()
  }

  /** Returns the virtual time. */
  now(): Date {
    return new Date(this.#clock.now())
  }

  /** Lets this much virtual time pass. Everything that is due in it happens, in order. */
  advance(duration: Duration): Promise<void> {
    const place = { source: sourceOf("advance"), option: "duration" }
    return this.#advanceTo(this.#clock.now() + checkedValue(duration, required(durationKind()), place))
  }

  /** Lets virtual time pass until this time. */
  async advanceTo(time: When): Promise<void> {
    const place = { source: sourceOf("advanceTo"), option: "time" }
    return this.#advanceTo(checkedValue(time, required(instant), place))
  }

  async #advanceTo(target: Instant): Promise<void> {
    await this.#inProgress.settle()
    while (this.#clock.timeline.step(target)) await this.#inProgress.settle()
    this.#clock.timeline.jumpTo(target)
  }

  /** Returns runs in the order of their creation. Skipped occurrences are included only if the query has a state. */
  async runs(query: RunQuery = {}): Promise<readonly RunView[]> {
    const runs = (await this.scheduler.runs.list({ limit: 1_000, ...query })).items
    const shown = (query?.state ?? null) === null ? runs.filter((run) => run.state !== "skipped") : runs
    return wholeRuns(this.scheduler, shown.toReversed())
  }

  /** Returns the next occurrences of a schedule, without running anything. */
  next(scheduleId: string, count: number): Promise<readonly OccurrenceView[]> {
    return this.scheduler.schedules.preview(scheduleId, count)
  }

  /** Lets virtual time pass until a run matches, and returns the first. Rejects after `within`. Default 1 h. */
  async waitFor(query: RunQuery, options: { within?: Duration } = {}): Promise<RunView> {
    const wanted = copied(query, { source: sourceOf("waitFor"), option: "query" })
    const { within: withinMs = HOUR } = checked(options, WAIT_OPTIONS, sourceOf("waitFor"))
    const deadline = this.#clock.now() + withinMs
    await this.#inProgress.settle()
    do {
      const [run] = await this.runs(wanted)
      if (run !== undefined) return run
    } while (await this.#stepUntil(deadline))
    throw noRunMatched(wanted, `${formatDuration(withinMs)} of virtual time`, "within")
  }

  async #stepUntil(deadline: number): Promise<boolean> {
    const hasStepped = this.#clock.timeline.step(deadline)
    await this.#inProgress.settle()
    return hasStepped
  }

  /** Aborts running tasks and stops the scheduler, in next to no virtual time. */
  async stop(): Promise<void> {
    const stopped = this.scheduler.stop({ timeout: 0 })
    let isStopped = false
    void stopped.finally(() => {
      isStopped = true
    })
    while (!isStopped) {
      await turn()
      this.#clock.timeline.step(Number.POSITIVE_INFINITY)
    }
    await stopped
  }

  /** The same as `stop`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

/** Waits for a run in real time, for tests against a real store. */
export async function waitForRun(
  scheduler: Scheduler,
  query: RunQuery,
  options: { timeout?: Duration } = {},
): Promise<RunView> {
  const source = sourceOf("waitForRun")
  const wanted = copied(query, { source, option: "query" })
  const given = checked(options, { timeout: durationKind() }, source)
  const timeoutMs = given.timeout ?? 10 * SECOND
  const deadline = systemClock.monotonic() + timeoutMs
  for (;;) {
    // Reads at least once, however short the timeout is.
    const isLast = systemClock.monotonic() >= deadline
    const [run] = (await scheduler.runs.list({ limit: 1, ...wanted })).items
    if (run !== undefined) return (await wholeRuns(scheduler, [run]))[0]!
    if (isLast) throw noRunMatched(wanted, formatDuration(timeoutMs), "timeout")
    await new Promise<void>((resolve) => {
      systemClock.setTimer(10, resolve)
    })
  }
}

async function wholeRuns(
  scheduler: Scheduler,
  runs: readonly { readonly id: string }[],
): Promise<readonly RunView[]> {
  const found = await Promise.all(runs.map(({ id }) => scheduler.runs.get(id)))
  return found.filter((run) => run !== null)
}

function noRunMatched(query: RunQuery, time: string, option: string): BelfryError {
  const { task } = query
  const wanted = typeof task === "object" ? { ...query, task: task.name } : query
  return new BelfryError("BELFRY_RUN_NOT_FOUND", `No run matched ${JSON.stringify(wanted)} within ${time}.`, {
    details: { query: wanted },
    remedy: `List all runs to see their state, or wait longer with "${option}".`,
  })
}

/** Events that are reported when an attempt has ended. */
const ENDINGS: ReadonlySet<RunEvent["type"]> = new Set([
  "succeeded",
  "retrying",
  "failed",
  "lost",
  "released",
  "cancelled",
  "superseded",
])

/**
 * The runs being performed. Virtual time stands still while a task does real work; otherwise its lease would end at once. A task
 * that waits for virtual time would then wait for ever, so the wait for each attempt is limited.
 */
class RunsInProgress {
  readonly #patienceMs: number
  readonly #awaited = new Set<string>()

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  note(event: RunEvent): void {
    if (event.type === "started") this.#awaited.add(event.runId)
    else if (ENDINGS.has(event.type)) this.#awaited.delete(event.runId)
  }

  /** Resolves when everything that can happen at this instant has happened. */
  async settle(): Promise<void> {
    const startedAt = systemClock.monotonic()
    await turn()
    while (this.#awaited.size > 0 && systemClock.monotonic() - startedAt < this.#patienceMs) await turn()
    this.#awaited.clear()
  }
}

/** Bound when this module is loaded: a test may later replace it with a fake timer, and a real turn is needed here. */
const afterTurn = setImmediate

/** After a turn of the event loop, every promise that needs no input or output has settled. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    afterTurn(resolve)
  })
}
