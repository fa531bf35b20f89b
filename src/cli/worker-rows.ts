import type { Scheduler } from "../scheduler/scheduler.ts"
import type { WorkerView } from "../scheduler/views.ts"
import type { Call } from "./command.ts"
import type { Shown } from "./output.ts"
import { distanceWords, isoOrDash } from "./time-words.ts"

/** Three leases of the usual length without a word. */
const SILENT_MS = 90_000

export function isSilent({ heartbeatAt }: WorkerView, now: number): boolean {
  return now - heartbeatAt.getTime() > SILENT_MS
}

export async function allWorkers(scheduler: Scheduler): Promise<readonly WorkerView[]> {
  const found: WorkerView[] = []
  for (let after: string | undefined; found.length < 100_000; ) {
    const page = await scheduler.workers({ limit: 500, ...(after === undefined ? {} : { after }) })
    found.push(...page)
    if (page.length < 500) break
    after = page[page.length - 1]!.id
  }
  return found
}

export function workerRows(call: Call): Shown<WorkerView> {
  const now = call.io.clock.now()
  return {
    columns: [
      { header: "WORKER", text: ({ id }) => id, paint: () => "bold" },
      {
        header: "STATE",
        text: (worker) => (isSilent(worker, now) ? "silent" : worker.state),
        paint: (worker) => (isSilent(worker, now) ? "red" : "green"),
      },
      { header: "RUNNING", text: ({ running, slots }) => `${running}/${slots}`, isRight: true },
      {
        header: "HEARD OF",
        text: ({ heartbeatAt }) => isoOrDash(heartbeatAt),
        brief: ({ heartbeatAt }) => distanceWords(heartbeatAt.getTime(), now),
      },
      {
        header: "SINCE",
        text: ({ startedAt }) => isoOrDash(startedAt),
        brief: ({ startedAt }) => distanceWords(startedAt.getTime(), now),
      },
      { header: "TASKS", text: ({ tasks }) => tasks.join(",") },
    ],
    nameOf: ({ id }) => id,
    none: "Nobody works on this store. Start a worker: belfry start",
  }
}
