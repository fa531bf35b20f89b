import type { Client } from "../../scheduler/client.ts"
import { collected } from "../../scheduler/listing.ts"
import { isOnline } from "../../scheduler/online-workers.ts"
import type { WorkerView } from "../../scheduler/views.ts"
import type { Call } from "../parsing/command.ts"
import type { RowFormat } from "./output.ts"
import { distanceWords, isoOrDash, spanWords } from "./time-text.ts"

/** `active`, `draining`, or how long the process has been silent. */
export function workerStateWords({ state, silentForMs }: WorkerView): string {
  return silentForMs === null ? state : `silent for ${spanWords(silentForMs)}`
}

/** All processes, including those that only fire. */
export async function allWorkers(scheduler: Client): Promise<readonly WorkerView[]> {
  return collected(scheduler.workers({ limit: 500 }))
}

export function workerRows(call: Call): RowFormat<WorkerView> {
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
      { header: "ROLES", text: ({ roles }) => roles.join(","), dropOrder: 2 },
      { header: "RUNNING", text: ({ running, slots }) => `${running}/${slots}`, isRight: true },
      {
        header: "HEARTBEAT",
        text: ({ heartbeatAt }) => isoOrDash(heartbeatAt),
        brief: ({ heartbeatAt }) => distanceWords(heartbeatAt.getTime(), now),
      },
      {
        header: "STARTED",
        dropOrder: 1,
        text: ({ startedAt }) => isoOrDash(startedAt),
        brief: ({ startedAt }) => distanceWords(startedAt.getTime(), now),
      },
      { header: "HOST", text: ({ host }) => host, isWide: true },
      { header: "PID", text: ({ pid }) => String(pid), isWide: true, isRight: true },
      { header: "TASKS", text: ({ tasks }) => tasks.join(","), below: "cut" },
    ],
    nameOf: ({ id }) => id,
    none: "No process fires schedules or performs runs. Start one: belfry start",
  }
}
