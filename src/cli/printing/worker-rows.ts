import type { Client } from "../../scheduler/client.ts"
import { collected } from "../../scheduler/listing.ts"
import type { WorkerView } from "../../scheduler/views.ts"
import type { Call } from "../parsing/command.ts"
import type { Shown } from "./output.ts"
import { distanceWords, isoOrDash, spanWords } from "./time-words.ts"

export function isOnline({ silentForMs }: WorkerView): boolean {
  return silentForMs === null
}

/** `active`, `draining`, or for how long nothing was heard of it. */
export function workerStateWords({ state, silentForMs }: WorkerView): string {
  return silentForMs === null ? state : `silent for ${spanWords(silentForMs)}`
}

export async function allWorkers(scheduler: Client): Promise<readonly WorkerView[]> {
  return collected(scheduler.workers({ limit: 500 }))
}

export function workerRows(call: Call): Shown<WorkerView> {
  const now = call.io.clock.now()
  return {
    columns: [
      { header: "WORKER", text: ({ id }) => id, paint: () => "bold", isId: true },
      {
        header: "STATE",
        text: (worker) => (isOnline(worker) ? worker.state : "silent"),
        brief: workerStateWords,
        paint: (worker) => (isOnline(worker) ? "green" : "red"),
      },
      { header: "RUNNING", text: ({ running, slots }) => `${running}/${slots}`, isRight: true },
      {
        header: "HEARD OF",
        text: ({ heartbeatAt }) => isoOrDash(heartbeatAt),
        brief: ({ heartbeatAt }) => distanceWords(heartbeatAt.getTime(), now),
      },
      {
        header: "SINCE",
        dropOrder: 1,
        text: ({ startedAt }) => isoOrDash(startedAt),
        brief: ({ startedAt }) => distanceWords(startedAt.getTime(), now),
      },
      { header: "HOST", text: ({ host }) => host, isWide: true },
      { header: "PID", text: ({ pid }) => String(pid), isWide: true, isRight: true },
      { header: "TASKS", text: ({ tasks }) => tasks.join(","), below: "cut" },
    ],
    nameOf: ({ id }) => id,
    none: "No worker has this store. Start one: belfry start",
  }
}
