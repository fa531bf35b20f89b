import { MINUTE } from "../core/instant.ts"
import { describeThrown } from "../core/thrown.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Store } from "../store/store.ts"
import type { Events } from "./events.ts"
import { Loop } from "./loop.ts"
import { offeredTasks } from "./offered-tasks.ts"

/** Workers of a deploy may start after the process that fires. */
const PATIENCE_MS = MINUTE

/**
 * Warns once for each task whose runs this process fires though no live worker offers it: a renamed task, or a typing error.
 * Processes that only fire are usual, so a task gets a minute, and one that a worker has offered is not asked about again.
 */
export class UnofferedTasks {
  readonly #context: UnofferedTasksContext
  readonly #loop: Loop
  /** By the monotonic clock: when each task is to be looked for. */
  readonly #dueAt = new Map<string, number>()
  readonly #known = new Set<string>()

  constructor(context: UnofferedTasksContext) {
    this.#context = context
    this.#loop = new Loop({
      clock: context.clock,
      longestSleepMs: context.pollMs,
      turn: () => this.#look(),
      onFault(error, count) {
        const facts = { component: "firing", error: describeThrown(error) }
        if (count === 1) context.logger.debug(facts, "Workers can't be read; trying again")
        context.events.error(error, "firing")
      },
    })
  }

  /** `own` are the tasks that this process performs itself. */
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
    this.#dueAt.set(task, this.#context.clock.monotonic() + PATIENCE_MS)
    this.#loop.wake()
  }

  async #look(): Promise<number> {
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
      `Runs of task "${task}" are fired, and no live worker offers it: they wait. Start a worker that defines the task, or delete its schedules`,
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
