import { BelfryError } from "../../core/errors.ts"
import { checked } from "../../core/options/checked.ts"
import { COUNT_MAX } from "../../core/options/limits.ts"
import { isFinished, type Run, type RunState } from "../../core/run/run.ts"
import { type Duration, formatDuration } from "../../core/time/duration.ts"
import { SECOND } from "../../core/time/instant.ts"
import type { Json } from "../../core/values/json.ts"
import { describeThrown } from "../../core/values/thrown.ts"
import type { StoreHints } from "../../engine/store-hints.ts"
import type { Clock } from "../../runtime/clock.ts"
import type { Store } from "../../store/store.ts"
import type { AnyTask } from "../../task/task.ts"
import { type Listing, listing } from "../listing.ts"
import { isSelection, type ManyOptions, type ManyReport } from "../many.ts"
import { CHANGE_REASON, type ChangeReason } from "../schedules/steering-options.ts"
import { type LogLineView, logLineView, type RunSummaryView, type RunView, runView } from "../views.ts"
import {
  CANCEL,
  changeMany,
  changeRun,
  findRun,
  RELEASE,
  RETRY,
  type RunOperation,
  requireRun,
} from "./change-runs.ts"
import type { EnqueuedRun } from "./enqueue.ts"
import { listRuns } from "./list-runs.ts"
import { retryWithPayload } from "./retry-with-payload.ts"
import {
  idOf,
  LOG_PAGE,
  type LogPlace,
  RETRY_OPTIONS,
  RUN_FILTER,
  RUN_QUERY,
  type RunQuery,
  type RunSelection,
  runFilterOf,
  sourceOf,
  WAIT,
} from "./run-options.ts"
import type { Runs } from "./runs.ts"
import { Sleeper } from "./sleeper.ts"

/** The pauses between reads grow up to this time. A long wait needs no millisecond precision. */
const WAIT_PAUSE_MAX_MS = 1_000

export interface RunParts {
  readonly store: Store
  readonly clock: Clock
  readonly tasks: ReadonlyMap<string, AnyTask>
  ready(): Promise<void>
  readonly hints: Pick<StoreHints, "add" | "listen">
}

/** The runs in a store. The methods are documented in `Runs`. */
export class StoredRuns implements Runs {
  readonly #parts: RunParts

  constructor(parts: RunParts) {
    this.#parts = parts
  }

  async get(id: string): Promise<RunView | null> {
    const runId = idOf(id, "get")
    await this.#parts.ready()
    const run = await findRun(this.#parts.store, runId)
    return run === null ? null : runView(run)
  }

  wait(id: string, options?: { timeout?: Duration }): Promise<RunView | null>
  wait<Details>(
    enqueued: EnqueuedRun<Details>,
    options?: { timeout?: Duration },
  ): Promise<RunView<Details> | null>
  async wait(which: string | EnqueuedRun<unknown>, options: { timeout?: Duration } = {}): Promise<unknown> {
    const runId = idOf(typeof which === "object" && which !== null ? which.runId : which, "wait")
    const { timeout = 30 * SECOND } = checked(options, WAIT, sourceOf("wait"))
    const { clock, hints } = this.#parts
    const deadline = clock.monotonic() + timeout
    const sleeper = new Sleeper(clock)
    let stop: (() => void) | null = null
    try {
      for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, WAIT_PAUSE_MAX_MS)) {
        const read = await this.#read(runId)
        if (read.run !== null && isFinished(read.run.state)) return runView(read.run)
        const leftMs = deadline - clock.monotonic()
        if (leftMs <= 0 && read.run === null) throw cannotRead(runId, timeout, read.fault)
        if (leftMs <= 0) return null
        // The store is open now, and gives a hint when runs end. Then the run is read at once.
        if (read.run !== null) stop ??= wakenByEnds(hints, sleeper)
        await sleeper.sleep(Math.min(pauseMs, leftMs))
      }
    } finally {
      stop?.()
    }
  }

  list(query: RunQuery = {}): Listing<RunSummaryView> {
    return listRuns(this.#parts, checked(query, RUN_QUERY, sourceOf("list")))
  }

  async count(
    query: Omit<RunQuery, "since" | "until" | "error" | "limit" | "cursor"> = {},
  ): Promise<Readonly<Record<RunState, number>>> {
    const filter = checked(query, RUN_FILTER, sourceOf("count"))
    await this.#parts.ready()
    return (await this.#parts.store.count({ runs: runFilterOf(filter), limit: COUNT_MAX })).runs
  }

  cancel(id: string, because?: ChangeReason): Promise<RunView>
  cancel(which: RunSelection, options?: ChangeReason & ManyOptions): Promise<ManyReport>
  async cancel(which: string | RunSelection, options: ChangeReason & ManyOptions = {}): Promise<unknown> {
    if (isSelection(which)) return changeMany(this.#parts, which, options, CANCEL)
    return this.#change(which, CANCEL, options)
  }

  retry(id: string, options?: ChangeReason & { payload?: Json }): Promise<RunView>
  retry(which: RunSelection, options?: ChangeReason & ManyOptions): Promise<ManyReport>
  async retry(
    which: string | RunSelection,
    options: ChangeReason & ManyOptions & { payload?: Json } = {},
  ): Promise<unknown> {
    if (isSelection(which)) return changeMany(this.#parts, which, options, RETRY)
    const { payload, ...because } = checked(options, RETRY_OPTIONS, sourceOf("retry"))
    if (payload === undefined) return this.#change(which, RETRY, because as ChangeReason)
    const runId = idOf(which, "retry")
    await this.#parts.ready()
    return runView(await retryWithPayload(this.#parts, runId, payload, because as ChangeReason))
  }

  release(id: string, because?: ChangeReason): Promise<RunView>
  release(which: RunSelection, options?: ChangeReason & ManyOptions): Promise<ManyReport>
  async release(which: string | RunSelection, options: ChangeReason & ManyOptions = {}): Promise<unknown> {
    if (isSelection(which)) return changeMany(this.#parts, which, options, RELEASE)
    return this.#change(which, RELEASE, options)
  }

  logs(
    id: string,
    page: { after?: Pick<LogLineView, "attempt" | "number">; limit?: number; cursor?: string } = {},
  ): Listing<LogLineView> {
    const runId = idOf(id, "logs")
    const { after = null, limit = 1_000, cursor } = checked(page, LOG_PAGE, sourceOf("logs"))
    const name = "logs"
    return listing({
      name,
      limit,
      first: cursor?.(name) ?? after,
      read: async (place, size) => {
        await this.#parts.ready()
        const lines = await this.#parts.store.readLogs({ runId, after: place, limit: size })
        if (lines.length === 0 && place === null) await requireRun(this.#parts.store, runId)
        return lines
      },
      placeOf: ({ attempt, number }): LogPlace => ({ attempt, number }),
      show: logLineView,
    })
  }

  async #change(id: string, operation: RunOperation, options: ChangeReason): Promise<RunView> {
    const because = checked(options, CHANGE_REASON, sourceOf(operation.method)) as ChangeReason
    const runId = idOf(id, operation.method)
    await this.#parts.ready()
    return runView(await changeRun(this.#parts.store, runId, operation, because))
  }

  /** The stored run, or the fault if the store is unavailable. */
  async #read(id: string): Promise<{ run: Run } | { run: null; fault: unknown }> {
    try {
      await this.#parts.ready()
      return { run: await requireRun(this.#parts.store, id) }
    } catch (error) {
      // Any other exception of a store means that the store is unreachable (law 10).
      if (error instanceof BelfryError && error.code !== "BELFRY_STORE_UNAVAILABLE") throw error
      return { run: null, fault: error }
    }
  }
}

/** Returns a function that ends it. */
function wakenByEnds(hints: RunParts["hints"], sleeper: Sleeper): () => void {
  void hints.listen()
  return hints.add((hint) => {
    if (hint === "ended") sleeper.wake()
  })
}

function cannotRead(id: string, timeoutMs: number, fault: unknown): BelfryError {
  const why = describeThrown(fault).split("\n")[0]
  const text = `Waited ${formatDuration(timeoutMs)} for run "${id}", but the store can't be read: ${why}`
  return new BelfryError("BELFRY_STORE_UNAVAILABLE", text, { details: { id }, cause: fault })
}
