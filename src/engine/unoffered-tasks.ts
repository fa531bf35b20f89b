import { MINUTE } from "../core/time/instant.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Store } from "../store/store.ts"
import type { Events } from "./events.ts"
import { Loop, loopReports } from "./loop.ts"
import { offeredTasks } from "./offered-tasks.ts"

/** Workers of a deploy may start after the process that fires, so a task is checked only after this delay. */
const CHECK_AFTER_MS = MINUTE

/**
 * Warns once for each task whose runs this process fires although no live worker offers it: a renamed task, or a typing error.
 * Processes that only fire are common, so each task is checked only after a minute, and only once.
 */
export class UnofferedTasks {
  readonly #context: UnofferedTasksContext
  readonly #loop: Loop
  /** When each task is checked, by the monotonic clock. */
  readonly #dueAt = new Map<string, number>()
  readonly #known = new Set<string>()

  constructor(context: UnofferedTasksContext) {
    this.#context = context
    this.#loop = new Loop({
      clock: context.clock,
      longestSleepMs: context.pollMs,
      turn: () => this.#check(),
      ...loopReports(context, {
        component: "firing",
        level: "debug",
        fault: "Workers can't be read; trying again",
      }),
    })
  }

  /** `own`: tasks that this process performs itself. */
  start(own: readonly string[]): void {
    for (const task of own) this.#known.add(task)
    this.#loop.start()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  /** A run of this task was fired. */
  onFired(task: string): void {
    if (this.#known.has(task)) return
    this.#known.add(task)
    this.#dueAt.set(task, this.#context.clock.monotonic() + CHECK_AFTER_MS)
    this.#loop.wake()
  }

  async #check(): Promise<number> {
    const now = this.#context.clock.monotonic()
    const due = [...this.#dueAt].filter(([, at]) => at <= now).map(([task]) => task)
    if (due.length > 0) {
      const offered = await offeredTasks(this.#context.store)
      for (const task of due) {
        this.#dueAt.delete(task)
        if (!offered.has(task)) this.#warn(task)
      }
    }
    return Math.min(...this.#dueAt.values()) - now
  }

  #warn(task: string): void {
    this.#context.logger.warn(
      { component: "firing", task },
      `Runs of task "${task}" are waiting: no live worker offers the task. Start a worker that defines the task, or delete its schedules`,
    )
  }
}

export interface UnofferedTasksContext {
  readonly pollMs: number
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly events: Events
}
