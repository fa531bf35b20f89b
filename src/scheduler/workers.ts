import type { Rhythm } from "../core/liveness.ts"
import { offeredTasks } from "../engine/offered-tasks.ts"
import type { Store } from "../store/store.ts"
import type { AnyTask } from "../task/task.ts"
import { type WorkerView, workerView } from "./views.ts"

/** The workers on a store. Which of them are silent is judged by the rhythm of this scheduler. */
export class Workers {
  readonly #store: Store
  readonly #tasks: ReadonlyMap<string, AnyTask>
  readonly #rhythm: Rhythm

  constructor(about: { store: Store; tasks: ReadonlyMap<string, AnyTask>; rhythm: Rhythm }) {
    this.#store = about.store
    this.#tasks = about.tasks
    this.#rhythm = about.rhythm
  }

  async list(page: { afterId: string | null; limit: number }): Promise<readonly WorkerView[]> {
    // Read before the workers: a worker that beats in between doesn't look silent.
    const now = await this.#store.now()
    const workers = await this.#store.findWorkers(page)
    return workers.map((worker) => workerView(worker, this.#rhythmOf(worker.tasks), now))
  }

  /** What workers that are online perform. */
  offeredTasks(): Promise<ReadonlySet<string>> {
    return offeredTasks(this.#store, (tasks) => this.#rhythmOf(tasks))
  }

  /** Tasks that nobody defines here have the usual lease. */
  #rhythmOf(tasks: readonly string[]): Rhythm {
    const leases = tasks.map((name) => this.#tasks.get(name)?.leaseMs ?? this.#rhythm.leaseMs)
    return { ...this.#rhythm, leaseMs: Math.max(this.#rhythm.leaseMs, ...leases) }
  }
}
