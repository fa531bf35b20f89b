import { silentForMs } from "../core/liveness.ts"
import type { Store } from "../store/store.ts"

const PAGE = 1_000

/** The tasks of the workers that are online: one read for every thousand workers. */
export async function offeredTasks(store: Store): Promise<ReadonlySet<string>> {
  const offered = new Set<string>()
  // Read before the workers: a worker that beats in between doesn't look silent.
  const now = await store.now()
  for (let afterId: string | null = null; ; ) {
    const workers = await store.findWorkers({ afterId, limit: PAGE })
    for (const worker of workers)
      if (silentForMs(worker, now) === null) for (const task of worker.tasks) offered.add(task)
    if (workers.length < PAGE) return offered
    afterId = workers.at(-1)!.id
  }
}
