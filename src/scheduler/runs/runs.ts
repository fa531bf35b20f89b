import { type Checked, checked, checkedValue, type Door, type Kind } from "../../core/checked.ts"
import { type Duration, formatDuration } from "../../core/duration.ts"
import { BelfryError } from "../../core/errors.ts"
import { SECOND } from "../../core/instant.ts"
import { choice, duration, instant, integer, oneOrMore, part, remark, required } from "../../core/kinds.ts"
import { COUNT_MAX, LOOKUP, PAGE, taskOr } from "../../core/limits.ts"
import type { When } from "../../core/options.ts"
import {
  cancel,
  isAlreadyMade,
  isFinished,
  type Run,
  type RunChange,
  type RunState,
  release,
  retry,
  type TriggeredBy,
} from "../../core/run.ts"
import { describeThrown } from "../../core/thrown.ts"
import type { Clock } from "../../runtime/clock.ts"
import { accepted } from "../../store/refused.ts"
import type { Hint, RunFilter, Store } from "../../store/store.ts"
import type { AnyTask } from "../../task/task.ts"
import { cursor, isInstantPlace, type Listing, listing } from "../listing.ts"
import type { Because } from "../schedules/steering-options.ts"
import {
  type LogLineView,
  logLineView,
  type RunSummaryView,
  type RunView,
  runSummaryView,
  runView,
} from "../views.ts"
import { Pauses } from "./pauses.ts"

export interface RunQuery {
  /** How the id begins. Such runs come by id, ascending. */
  readonly idPrefix?: string
  readonly schedule?: string
  readonly task?: AnyTask | string
  /** The id of the run that they are a part of. */
  readonly parent?: string
  /** The id of the worker that holds them. */
  readonly worker?: string
  readonly state?: RunState | readonly RunState[]
  readonly triggeredBy?: TriggeredBy | readonly TriggeredBy[]
  /** When they were created: `since` itself is within, `until` is not. */
  readonly since?: When
  readonly until?: When
  readonly limit?: number
  /** The `next` of the page before. */
  readonly cursor?: string
}

const STATES = choice<RunState>("pending", "running", "succeeded", "failed", "cancelled", "skipped")
const TRIGGERED_BY = choice<TriggeredBy>("schedule", "catchup", "manual", "backfill", "api")

type PagePart = "since" | "until" | "limit" | "cursor"

const RUN_FILTER = {
  idPrefix: LOOKUP,
  schedule: LOOKUP,
  task: taskOr(LOOKUP),
  parent: LOOKUP,
  worker: LOOKUP,
  state: oneOrMore(STATES),
  triggeredBy: oneOrMore(TRIGGERED_BY),
} satisfies Record<Exclude<keyof RunQuery, PagePart>, Kind<unknown>>

export const RUN_QUERY = {
  ...RUN_FILTER,
  since: instant,
  until: instant,
  limit: PAGE,
  cursor: cursor(isInstantPlace),
} satisfies Record<keyof RunQuery, Kind<unknown>>

export const LOG_PAGE = {
  after: part({ attempt: required(integer(0, 1_000_000)), number: required(integer(0, 1_000_000_000)) }),
  limit: integer(1, 10_000),
  cursor: cursor(isLogPlace),
}

type LogPlace = Pick<LogLineView, "attempt" | "number">

function isLogPlace(place: unknown): place is LogPlace {
  const { attempt, number } = Object(place) as Partial<LogPlace>
  return Number.isSafeInteger(attempt) && Number.isSafeInteger(number)
}

const WAIT = { timeout: duration() }
const BECAUSE = { reason: remark, by: remark } satisfies Record<keyof Because, Kind<unknown>>

const TRIES = 20
/** Somebody who waits for long needn't know to the millisecond. */
const WAIT_STEP_MAX_MS = 1_000

/** The runs in the store: looking at them, and stepping in. */
export class Runs {
  readonly #store: Store
  readonly #clock: Clock
  readonly #ready: () => Promise<void>
  readonly #onHint: (listener: (hint: Hint) => void) => () => void

  constructor(about: {
    store: Store
    clock: Clock
    ready: () => Promise<void>
    onHint(listener: (hint: Hint) => void): () => void
  }) {
    this.#onHint = about.onHint
    this.#store = about.store
    this.#clock = about.clock
    this.#ready = about.ready
  }

  /** Null if there is none. */
  async get(id: string): Promise<RunView | null> {
    const runId = idOf(id, "runs.get")
    await this.#ready()
    const run = await this.#find(runId)
    return run === null ? null : runView(run)
  }

  /**
   * Resolves when the run has finished, whatever became of it; null if it hasn't within the time given (30 seconds). While
   * the store is away it goes on trying. Rejects if the store is still away when the time is over.
   */
  async wait(id: string, options: { timeout?: Duration } = {}): Promise<RunView | null> {
    const runId = idOf(id, "runs.wait")
    const { timeout = 30 * SECOND } = checked(options, WAIT, doorOf("runs.wait"))
    const deadline = this.#clock.monotonic() + timeout
    const pauses = new Pauses(this.#clock)
    // A process that runs hears of ends, and looks at once.
    const stop = this.#onHint((hint) => {
      if (hint === "ended") pauses.end()
    })
    try {
      for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, WAIT_STEP_MAX_MS)) {
        const look = await this.#look(runId)
        if (look.run !== null && isFinished(look.run.state)) return runView(look.run)
        const leftMs = deadline - this.#clock.monotonic()
        if (leftMs <= 0 && look.run === null) throw notSeen(runId, timeout, look.fault)
        if (leftMs <= 0) return null
        await pauses.begin(Math.min(pauseMs, leftMs))
      }
    } finally {
      stop()
    }
  }

  /** Newest first. */
  list(query: RunQuery = {}): Listing<RunSummaryView> {
    const { since, until, cursor, limit = 50, ...filter } = checked(query, RUN_QUERY, doorOf("runs.list"))
    const order = {
      orderBy: filter.idPrefix === undefined ? "createdAt" : "id",
      ...(since === undefined ? {} : { from: since }),
      ...(until === undefined ? {} : { until }),
    } as const
    return listing({
      limit,
      first: cursor ?? null,
      read: async (after, size) => {
        await this.#ready()
        return this.#store.findRuns(filterOf(filter), { ...order, after, limit: size })
      },
      placeOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      show: runSummaryView,
    })
  }

  /** How many, by state, each up to 10,000: that number stands for so many or more. */
  async count(query: Omit<RunQuery, PagePart> = {}): Promise<Readonly<Record<RunState, number>>> {
    const filter = checked(query, RUN_FILTER, doorOf("runs.count"))
    await this.#ready()
    return (await this.#store.count({ runs: filterOf(filter), limit: COUNT_MAX })).runs
  }

  /** Final at once. A worker that is performing it hears of it, and can't finish it any more. */
  async cancel(id: string, because: Because = {}): Promise<RunView> {
    const { reason = null, by = null } = checked(because, BECAUSE, doorOf("runs.cancel"))
    return this.#step(idOf(id, "runs.cancel"), "cancelled", (run) => cancel(run, { reason, by }))
  }

  /** A failed or cancelled run is tried again, as the same run. */
  async retry(id: string, because: Because = {}): Promise<RunView> {
    // Why it was cancelled, or failed, is no longer why it is as it is.
    const { reason = "Tried again by an operator", by = null } = checked(
      because,
      BECAUSE,
      doorOf("runs.retry"),
    )
    return this.#step(idOf(id, "runs.retry"), "tried again", (run) => retry(run, by, reason))
  }

  /** Takes a running run away from its worker and makes it due at once. */
  async release(id: string, because: Because = {}): Promise<RunView> {
    const { reason = "Released by an operator", by = null } = checked(
      because,
      BECAUSE,
      doorOf("runs.release"),
    )
    return this.#step(idOf(id, "runs.release"), "released", (run) =>
      run.state === "running" ? release(run, reason, by) : null,
    )
  }

  /** Attempt by attempt, in order. `after` is the last line seen: whoever follows a run asks with it for what came since. */
  logs(
    id: string,
    page: { after?: Pick<LogLineView, "attempt" | "number">; limit?: number; cursor?: string } = {},
  ): Listing<LogLineView> {
    const runId = idOf(id, "runs.logs")
    const { after = null, limit = 1_000, cursor } = checked(page, LOG_PAGE, doorOf("runs.logs"))
    return listing({
      limit,
      first: cursor ?? after,
      read: async (place, size) => {
        await this.#ready()
        return this.#store.readLogs({ runId, after: place, limit: size })
      },
      placeOf: ({ attempt, number }): LogPlace => ({ attempt, number }),
      show: logLineView,
    })
  }

  /** The run as it is, or why it can't be seen just now. */
  async #look(id: string): Promise<{ run: Run } | { run: null; fault: unknown }> {
    try {
      await this.#ready()
      const run = await this.#find(id)
      if (run === null) throw notFound(id)
      return { run }
    } catch (error) {
      if (error instanceof BelfryError && error.code !== "BELFRY_STORE_UNAVAILABLE") throw error
      return { run: null, fault: error }
    }
  }

  async #find(id: string): Promise<Run | null> {
    const [run] = await this.#store.readRuns([id])
    return run ?? null
  }

  /** Decides on the run as it is, and again if it moves meanwhile. */
  async #step(id: string, verb: string, decide: (run: Run) => RunChange | null): Promise<RunView> {
    await this.#ready()
    for (let tries = 0; tries < TRIES; tries++) {
      const run = await this.#find(id)
      if (run === null) throw notFound(id)
      const change = decide(run)
      if (change === null) {
        throw new BelfryError("BELFRY_RUN_STATE", `Run "${id}" is ${run.state} and can't be ${verb}.`, {
          details: { id, state: run.state },
        })
      }
      const answer = accepted((await this.#store.transition([change]))[0]!)
      if (answer.outcome === "held") {
        throw new BelfryError(
          "BELFRY_RUN_HELD",
          `Run "${id}" can't be ${verb}: another unfinished run holds its key.`,
        )
      }
      if (answer.outcome === "done" || isAlreadyMade(change, answer))
        return runView((await this.#find(id)) ?? run)
    }
    throw new BelfryError("BELFRY_RUN_STATE", `Run "${id}" moved ${TRIES} times while it was being ${verb}.`)
  }
}

function notFound(id: string): BelfryError {
  return new BelfryError("BELFRY_RUN_NOT_FOUND", `There is no run "${id}".`, { details: { id } })
}

function notSeen(id: string, timeoutMs: number, fault: unknown): BelfryError {
  const why = describeThrown(fault).split("\n")[0]
  const text = `Run "${id}" was waited for ${formatDuration(timeoutMs)}, and the store can't be read: ${why}`
  return new BelfryError("BELFRY_STORE_UNAVAILABLE", text, { details: { id }, cause: fault })
}

function doorOf(method: string): Door {
  return { code: "BELFRY_RUN_INVALID", subject: method }
}

function idOf(id: unknown, method: string): string {
  return checkedValue(id, required(LOOKUP), { door: doorOf(method), option: "id" })
}

function filterOf(query: Checked<typeof RUN_FILTER>): RunFilter {
  const { idPrefix, schedule, task, parent, worker, state, triggeredBy } = query
  return {
    ...(idPrefix === undefined ? {} : { idPrefix }),
    ...(schedule === undefined ? {} : { scheduleId: schedule }),
    ...(parent === undefined ? {} : { parentId: parent }),
    ...(worker === undefined ? {} : { workerId: worker }),
    ...(task === undefined ? {} : { task }),
    ...(state === undefined ? {} : { states: state }),
    ...(triggeredBy === undefined ? {} : { triggeredBy }),
  }
}
