import type { Run, RunChange, SkipReason } from "../core/run.ts"
import { describeThrown } from "../core/thrown.ts"
import type { Logger } from "./logger.ts"

/** What happens to runs, as this process sees it. Each is told once, by the process that did it. */
export type RunEvent =
  | {
      readonly type: "created"
      readonly runId: string
      readonly task: string
      readonly scheduleId: string | null
    }
  | {
      readonly type: "skipped"
      readonly runId: string
      readonly scheduleId: string
      readonly reason: SkipReason
    }
  | {
      readonly type: "started"
      readonly run: Run /** From its nominal time, or its creation, to its start. */
      readonly latenessMs: number
    }
  | {
      readonly type: "succeeded" | "failed" | "retrying" | "released" | "lost"
      readonly run: Run
      readonly change: RunChange
    }
  | { readonly type: "cancelled"; readonly runId: string }
  /** Another process fired this schedule first. */
  | { readonly type: "raced"; readonly scheduleId: string }
  /** Our answer came too late: the run was taken away or cancelled, and the store refused it. */
  | { readonly type: "refused"; readonly run: Run }

/** Called by the engine; a hook that throws is logged and changes nothing. */
export interface Hooks {
  start?(): void
  stop?(): void
  /** Once per idle period: nothing is running and nothing is due. */
  idle?(): void
  /** A fault in one of the loops, or in a hook. */
  error?(error: unknown, where: string): void
  run?(event: RunEvent): void
}

/** Hooks that can't hurt. */
export class Events {
  readonly #hooks: Hooks
  readonly #logger: Logger

  constructor(hooks: Hooks, logger: Logger) {
    this.#hooks = hooks
    this.#logger = logger
  }

  emit(event: RunEvent): void {
    this.#call("run", () => this.#hooks.run?.(event))
  }

  say(what: "start" | "stop" | "idle"): void {
    this.#call(what, () => this.#hooks[what]?.())
  }

  error(error: unknown, where: string): void {
    this.#call("error", () => this.#hooks.error?.(error, where))
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
