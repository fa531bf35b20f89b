import { offeredTasks } from "../engine/offered-tasks.ts"
import type { Store } from "../store/store.ts"
import { type WorkerView, workerView } from "./views.ts"

/** The processes on a store. */
export class Workers {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  async list(page: { afterId: string | null; limit: number }): Promise<readonly WorkerView[]> {
    // Read before the workers: a worker that beats in between doesn't look silent.
    const now = await this.#store.now()
    const workers = await this.#store.findWorkers(page)
    return workers.map((worker) => workerView(worker, now))
  }

  /** What workers that are online perform. */
  offeredTasks(): Promise<ReadonlySet<string>> {
    return offeredTasks(this.#store)
  }
}
