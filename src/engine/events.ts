import type { Run, SkipReason } from "../core/run/run.ts"
import type { Json } from "../core/values/json.ts"
import { describeThrown } from "../core/values/thrown.ts"
import type { Logger } from "../runtime/logger.ts"
import type { StatisticsBuffer } from "./statistics-buffer.ts"

/**
 * An event of a run. Each event is reported once, by the process that caused it, in the order of the run's life: `created`
 * before `started`, and `started` before the end.
 */
export type RunEvent = RunFacts & RunEventBody

export type RunEventBody =
  | { readonly type: "created" }
  | { readonly type: "skipped"; readonly reason: SkipReason; readonly message: string | null }
  /** `latenessMs`: from the instant at which the attempt was due until its task is called. Never negative. */
  | { readonly type: "started"; readonly latenessMs: number }
  /** `durationMs`: how long the task took, as this process measured it. */
  | {
      readonly type: "succeeded"
      readonly message: string | null
      readonly details: Json
      readonly durationMs: number
    }
  | {
      readonly type: "retrying"
      readonly error: string | null
      readonly retryInMs: number
      readonly durationMs: number
    }
  | { readonly type: "failed"; readonly error: string | null; readonly durationMs: number }
  /** The run was given up, because it was lost with too many workers. */
  | { readonly type: "lost"; readonly error: string | null }
  /** The worker gave the run back unfinished: it stops, or could not begin the run before its lease ended. */
  | { readonly type: "released" }
  /** The run was cancelled, or a newer run replaced it. Reported when the attempt has ended. */
  | { readonly type: "cancelled" }
  /** This attempt no longer held the run when it ended, so its result was not stored. */
  | { readonly type: "superseded" }

/** Which run an event is about. */
export interface RunFacts {
  readonly runId: string
  readonly task: string
  readonly scheduleId: string | null
  readonly scheduledFor: Date | null
  /** 0 before the first attempt. */
  readonly attempt: number
}

type EventRun = Pick<Run, "id" | "task" | "scheduleId" | "scheduledFor"> & { readonly attempt?: number }

function factsOfRun(run: EventRun): RunFacts {
  const { id, task, scheduleId, scheduledFor, attempt = 0 } = run
  return {
    runId: id,
    task,
    scheduleId,
    scheduledFor: scheduledFor === null ? null : new Date(scheduledFor),
    attempt,
  }
}

/** Called by the engine. An error thrown by a hook is logged and has no other effect. */
export interface Hooks {
  start?(): void
  stop?(): void
  /** Once per idle period: nothing is running and nothing is due. */
  idle?(): void
  /** A fault in one of the loops, or in a hook. */
  error?(error: unknown, where: string): void
  run?(event: RunEvent): void
  /** Another process fired this schedule first. Not an error. Many races mean that more processes fire than necessary. */
  race?(scheduleId: string): void
  /** Due schedules or runs were claimed from the store. For metrics: how many, how long it took, how many races were lost. */
  claimed?(claim: ClaimedWork): void
}

export interface ClaimedWork {
  readonly what: "schedules" | "runs"
  readonly count: number
  /** Schedules that other processes fired first. 0 for runs. */
  readonly lostRaces: number
  /** From the first request to the last answer. */
  readonly tookMs: number
}

export type EventName = keyof Hooks
export type Listener<Name extends EventName> = Required<Hooks>[Name]

/** Calls hooks and listeners. Their errors are logged and never reach the engine. */
export class Events {
  readonly #hooks: Hooks
  readonly #logger: Logger
  readonly #statistics: StatisticsBuffer
  readonly #listeners = new Map<EventName, Set<{ call(...facts: readonly unknown[]): unknown }>>()
  /** For runs that are being created: events of their worker that wait until their creation was reported. */
  readonly #deferred = new Map<string, (() => void)[]>()

  constructor(hooks: Hooks, logger: Logger, statistics: StatisticsBuffer) {
    this.#hooks = hooks
    this.#logger = logger
    this.#statistics = statistics
  }

  /** Counts the event for the statistics. Most programs have no hook or listener; then no event object is made. */
  emit(run: EventRun, what: RunEventBody): void {
    this.#statistics.note(run, what)
    if (!this.#hasListener("run")) return
    const notify = () => this.#notify("run", { ...factsOfRun(run), ...what })
    const deferred = what.type === "created" ? undefined : this.#deferred.get(run.id)
    if (deferred === undefined) notify()
    else deferred.push(notify)
  }

  /**
   * Creates runs and reports them. A store's hint may be faster than its answer, so the events that a worker emits for these
   * runs wait until their creation has been reported.
   */
  async creating<T>(
    ids: readonly string[],
    create: () => Promise<T>,
    report: (answer: T) => void,
  ): Promise<T> {
    if (this.#hasListener("run")) for (const id of ids) this.#deferred.set(id, [])
    try {
      const answer = await create()
      report(answer)
      return answer
    } finally {
      for (const id of ids) {
        const deferred = this.#deferred.get(id) ?? []
        this.#deferred.delete(id)
        for (const notify of deferred) notify()
      }
    }
  }

  race(scheduleId: string): void {
    this.#notify("race", scheduleId)
  }

  claimed(claim: ClaimedWork): void {
    this.#notify("claimed", claim)
  }

  announce(what: "start" | "stop" | "idle"): void {
    this.#notify(what)
  }

  error(error: unknown, where: string): void {
    this.#notify("error", error, where)
  }

  /** Adds a listener beside the hooks. Returns a function that removes it. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    // A function that is added twice is called twice.
    const own = { call: listener as (...facts: readonly unknown[]) => unknown }
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners.add(own))
    return () => {
      listeners.delete(own)
    }
  }

  #hasListener(name: EventName): boolean {
    return this.#hooks[name] !== undefined || (this.#listeners.get(name)?.size ?? 0) > 0
  }

  #notify<Name extends EventName>(name: Name, ...facts: Parameters<Listener<Name>>): void {
    const hooks = this.#hooks as { readonly [name: string]: (...facts: readonly unknown[]) => unknown }
    if (this.#hooks[name] !== undefined) this.#call(name, () => hooks[name]!(...facts))
    for (const { call } of [...(this.#listeners.get(name) ?? [])]) this.#call(name, () => call(...facts))
  }

  #call(name: string, hook: () => unknown): void {
    const onThrow = (error: unknown) =>
      this.#logger.error({ component: "hooks", hook: name, error: describeThrown(error) }, "A hook threw")
    try {
      const result = hook()
      // A hook may be async. Its rejection must not end the process.
      if (result instanceof Promise) result.catch(onThrow)
    } catch (error) {
      onThrow(error)
    }
  }
}
