import { type Duration, formatDuration, parseDuration } from "../core/duration.ts"
import { BelfryError } from "../core/errors.ts"
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
} from "../core/run.ts"
import { describeThrown } from "../core/thrown.ts"
import type { Clock } from "../engine/clock.ts"
import type { AnyTask } from "../engine/task.ts"
import { accepted } from "../store/refused.ts"
import type { Store } from "../store/store.ts"
import type { Because } from "./schedules.ts"
import { type LogLineView, logLineView, type RunView, runView } from "./views.ts"

export interface RunQuery {
  readonly schedule?: string
  readonly task?: AnyTask | string
  readonly state?: RunState | readonly RunState[]
  readonly triggeredBy?: TriggeredBy | readonly TriggeredBy[]
  readonly limit?: number
  /** The last run of the page before. */
  readonly before?: Pick<RunView, "createdAt" | "id">
}

const TRIES = 20
/** Somebody who waits for long needn't know to the millisecond. */
const WAIT_STEP_MAX_MS = 1_000

/** The runs in the store: looking at them, and stepping in. */
export class Runs {
  readonly #store: Store
  readonly #clock: Clock
  readonly #ready: () => Promise<void>

  constructor(about: { store: Store; clock: Clock; ready: () => Promise<void> }) {
    this.#store = about.store
    this.#clock = about.clock
    this.#ready = about.ready
  }

  /** Null if there is none. */
  async get(id: string): Promise<RunView | null> {
    await this.#ready()
    const run = await this.#find(id)
    return run === null ? null : runView(run)
  }

  /**
   * Resolves when the run has finished, whatever became of it; null if it hasn't within the time given (30 seconds). While
   * the store is away it goes on trying. Rejects if the store is still away when the time is over.
   */
  async wait(id: string, options: { timeout?: Duration } = {}): Promise<RunView | null> {
    const timeoutMs = parseDuration(options.timeout ?? "30s", "timeout")
    const deadline = this.#clock.monotonic() + timeoutMs
    for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, WAIT_STEP_MAX_MS)) {
      const look = await this.#look(id)
      if (look.run !== null && isFinished(look.run.state)) return runView(look.run)
      const leftMs = deadline - this.#clock.monotonic()
      if (leftMs <= 0 && look.run === null) throw notSeen(id, timeoutMs, look.fault)
      if (leftMs <= 0) return null
      await new Promise<void>((resolve) => {
        this.#clock.setTimer(Math.min(pauseMs, leftMs), resolve)
      })
    }
  }

  /** Newest first. */
  async list(query: RunQuery = {}): Promise<readonly RunView[]> {
    await this.#ready()
    const { before, limit = 50 } = query
    const page = {
      orderBy: "createdAt",
      before: before === undefined ? null : { at: before.createdAt.getTime(), id: before.id },
      limit: Math.min(Math.max(1, limit), 1_000),
    } as const
    return (await this.#store.findRuns(filterOf(query), page)).map(runView)
  }

  /** How many, by state. */
  async count(query: Omit<RunQuery, "limit" | "before"> = {}): Promise<Readonly<Record<RunState, number>>> {
    await this.#ready()
    return this.#store.countRuns(filterOf(query))
  }

  /** Final at once. A worker that is performing it hears of it, and can't finish it any more. */
  cancel(id: string, because: Because = {}): Promise<RunView> {
    const why = { reason: because.reason ?? null, by: because.by ?? null }
    return this.#step(id, "cancelled", (run) => cancel(run, why))
  }

  /** A failed or cancelled run is tried again, as the same run. */
  retry(id: string, because: Because = {}): Promise<RunView> {
    return this.#step(id, "tried again", (run) => retry(run, because.by ?? null))
  }

  /** Takes a running run away from its worker and makes it due at once. */
  release(id: string, because: Because = {}): Promise<RunView> {
    const reason = because.reason ?? "Released by an operator"
    return this.#step(id, "released", (run) => (run.state === "running" ? release(run, reason) : null))
  }

  /** Attempt by attempt, in order; `after` is the last line seen. */
  async logs(
    id: string,
    page: { after?: Pick<LogLineView, "attempt" | "number">; limit?: number } = {},
  ): Promise<readonly LogLineView[]> {
    await this.#ready()
    const { after, limit = 1_000 } = page
    const lines = await this.#store.readLogs({
      runId: id,
      after: after === undefined ? null : { attempt: after.attempt, number: after.number },
      limit: Math.min(limit, 10_000),
    })
    return lines.map(logLineView)
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
    const [run] = await this.#store.findRuns({ ids: [id] }, { orderBy: "createdAt", before: null, limit: 1 })
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

function filterOf({ schedule, task, state, triggeredBy }: RunQuery) {
  return {
    ...(schedule === undefined ? {} : { scheduleId: schedule }),
    ...(task === undefined ? {} : { task: typeof task === "string" ? task : task.name }),
    ...(state === undefined ? {} : { states: typeof state === "string" ? [state] : state }),
    ...(triggeredBy === undefined
      ? {}
      : { triggeredBy: typeof triggeredBy === "string" ? [triggeredBy] : triggeredBy }),
  }
}
