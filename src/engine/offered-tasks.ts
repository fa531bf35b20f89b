import { silentForMs } from "../core/records/worker-liveness.ts"
import type { Store } from "../store/store.ts"

const PAGE = 1_000

/** The tasks of the online workers. Takes one read per thousand workers. */
export async function offeredTasks(store: Store): Promise<ReadonlySet<string>> {
  const offered = new Set<string>()
  // Read before the workers, so that a worker whose heartbeat comes in between doesn't look silent.
  const now = await store.now()
  for (let afterId: string | null = null; ; ) {
    const workers = await store.findWorkers({ afterId, limit: PAGE })
    for (const worker of workers)
      if (silentForMs(worker, now) === null) for (const task of worker.tasks) offered.add(task)
    if (workers.length < PAGE) return offered
    afterId = workers.at(-1)!.id
  }
}
