import { offeredTasks } from "../engine/offered-tasks.ts"
import type { Store } from "../store/store.ts"
import { type WorkerView, workerView } from "./views.ts"

/** The processes on a store: workers, and processes that only fire. */
export class Workers {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  async list(page: { afterId: string | null; limit: number }): Promise<readonly WorkerView[]> {
    // The clock is read before the workers. So a process whose heartbeat comes between the two reads doesn't appear silent.
    const now = await this.#store.now()
    const workers = await this.#store.findWorkers(page)
    return workers.map((worker) => workerView(worker, now))
  }

  /** The tasks of the online workers. */
  offeredTasks(): Promise<ReadonlySet<string>> {
    return offeredTasks(this.#store)
  }
}
