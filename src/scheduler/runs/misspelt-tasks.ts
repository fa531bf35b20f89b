import { nearest } from "../../core/values/nearest.ts"
import type { Logger } from "../../runtime/logger.ts"
import type { AnyTask } from "../../task/task.ts"

/** Warnings are written for at most this many names, so that generated names don't fill the memory. */
const NAMES_MAX = 1_000

/**
 * Warns once for each task name that this process doesn't define but that is very similar to one that it does. It isn't an
 * error: another process may define the task.
 */
export class MisspeltTasks {
  readonly #tasks: ReadonlyMap<string, AnyTask>
  readonly #logger: Logger
  readonly #seen = new Set<string>()

  constructor(tasks: ReadonlyMap<string, AnyTask>, logger: Logger) {
    this.#tasks = tasks
    this.#logger = logger
  }

  /** To be called when a run of this task was enqueued. */
  warnOf(task: AnyTask | string): void {
    if (typeof task !== "string" || this.#tasks.has(task) || this.#seen.has(task)) return
    if (this.#seen.size >= NAMES_MAX) return
    this.#seen.add(task)
    const near = nearest(task, [...this.#tasks.keys()])
    if (near === null) return
    const text = `A run of the task "${task}" was enqueued, which this process doesn't define. Did you mean "${near}"?`
    this.#logger.warn({ component: "enqueue", task, near }, text)
  }
}
