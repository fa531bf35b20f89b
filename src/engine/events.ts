import type { Json } from "../core/json.ts"
import type { Run, SkipReason } from "../core/run.ts"
import { describeThrown } from "../core/thrown.ts"
import type { Logger } from "../runtime/logger.ts"
import type { StatisticsBuffer } from "./statistics-buffer.ts"

/**
 * What happens to runs, as this process sees it. Each is told once, by the process that did it, in the order in which it
 * happened to the run: `created` before `started`, and `started` before the end.
 */
export type RunEvent = RunFacts & RunHappening

export type RunHappening =
  | { readonly type: "created" }
  | { readonly type: "skipped"; readonly reason: SkipReason; readonly message: string | null }
  /** `latenessMs` counts from the instant the attempt was due to its start; never negative. */
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
  /** Given up because it cost too many workers. */
  | { readonly type: "lost"; readonly error: string | null }
  /** Given back unfinished, by a worker that stops. */
  | { readonly type: "released" }
  /** Somebody cancelled the run, or a newer one replaced it. SharedHint when the attempt has ended. */
  | { readonly type: "cancelled" }
  /** Our answer came too late: the run was taken away, and the store refused it. */
  | { readonly type: "refused" }

/** Which run an event is about. */
export interface RunFacts {
  readonly runId: string
  readonly task: string
  readonly scheduleId: string | null
  readonly scheduledFor: Date | null
  /** 0 before the first. */
  readonly attempt: number
}

type EventfulRun = Pick<Run, "id" | "task" | "scheduleId" | "scheduledFor"> & { readonly attempt?: number }

function factsOfRun(run: EventfulRun): RunFacts {
  const { id, task, scheduleId, scheduledFor, attempt = 0 } = run
  return {
    runId: id,
    task,
    scheduleId,
    scheduledFor: scheduledFor === null ? null : new Date(scheduledFor),
    attempt,
  }
}

/** Called by the engine; a hook that throws is logged and changes nothing. */
export interface Hooks {
  start?(): void
  stop?(): void
  /** Once per idle period: nothing is running and nothing is due. */
  idle?(): void
  /** A fault in one of the loops, or in a hook. */
  error?(error: unknown, where: string): void
  run?(event: RunEvent): void
  /** Another process fired this schedule first. Not an error; many of them say that more processes fire than need to. */
  race?(scheduleId: string): void
  /** Due work was claimed from the store: how long that took, and how much of it others were first at. For metrics. */
  claimed?(claim: ClaimedWork): void
}

export interface ClaimedWork {
  readonly what: "schedules" | "runs"
  readonly count: number
  /** Schedules that others fired first; runs are never contended for. */
  readonly lost: number
  /** From the question to the last answer. */
  readonly tookMs: number
}

export type EventName = keyof Hooks
export type Listener<Name extends EventName> = Required<Hooks>[Name]

/** Hooks and listeners that can't hurt. */
export class Events {
  readonly #hooks: Hooks
  readonly #logger: Logger
  readonly #counting: StatisticsBuffer
  readonly #listeners = new Map<EventName, Set<{ call(...facts: readonly unknown[]): unknown }>>()
  /** Of runs that are being created: what their worker tells before their creation was told. */
  readonly #early = new Map<string, (() => void)[]>()

  constructor(hooks: Hooks, logger: Logger, counting: StatisticsBuffer) {
    this.#hooks = hooks
    this.#logger = logger
    this.#counting = counting
  }

  /** Counted for the statistics. Most programs don't listen: then nothing is made for them. */
  emit(run: EventfulRun, what: RunHappening): void {
    this.#counting.note(run, what)
    if (!this.#isHeard("run")) return
    const tell = () => this.#tell("run", { ...factsOfRun(run), ...what })
    const early = what.type === "created" ? undefined : this.#early.get(run.id)
    if (early === undefined) tell()
    else early.push(tell)
  }

  /**
   * Creates runs and tells of it. A store's hint may be faster than its answer: what a worker tells of these runs meanwhile
   * waits until their creation has been told.
   */
  async creating<T>(ids: readonly string[], create: () => Promise<T>, tell: (answer: T) => void): Promise<T> {
    if (this.#isHeard("run")) for (const id of ids) this.#early.set(id, [])
    try {
      const answer = await create()
      tell(answer)
      return answer
    } finally {
      for (const id of ids) {
        const early = this.#early.get(id) ?? []
        this.#early.delete(id)
        for (const each of early) each()
      }
    }
  }

  race(scheduleId: string): void {
    this.#tell("race", scheduleId)
  }

  claimed(claim: ClaimedWork): void {
    this.#tell("claimed", claim)
  }

  say(what: "start" | "stop" | "idle"): void {
    this.#tell(what)
  }

  error(error: unknown, where: string): void {
    this.#tell("error", error, where)
  }

  /** Beside the hooks, for as long as it isn't taken away again. Returns how. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    // The same function twice is two listeners.
    const own = { call: listener as (...facts: readonly unknown[]) => unknown }
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners.add(own))
    return () => {
      listeners.delete(own)
    }
  }

  #isHeard(name: EventName): boolean {
    return this.#hooks[name] !== undefined || (this.#listeners.get(name)?.size ?? 0) > 0
  }

  #tell<Name extends EventName>(name: Name, ...facts: Parameters<Listener<Name>>): void {
    const hooks = this.#hooks as { readonly [name: string]: (...facts: readonly unknown[]) => unknown }
    if (this.#hooks[name] !== undefined) this.#call(name, () => hooks[name]!(...facts))
    for (const { call } of [...(this.#listeners.get(name) ?? [])]) this.#call(name, () => call(...facts))
  }

  #call(name: string, hook: () => unknown): void {
    const onThrow = (error: unknown) =>
      this.#logger.error({ component: "hooks", hook: name, error: describeThrown(error) }, "A hook threw")
    try {
      const result = hook()
      // A hook may turn out to be async; its rejection must not end the process.
      if (result instanceof Promise) result.catch(onThrow)
    } catch (error) {
      onThrow(error)
    }
  }
}
