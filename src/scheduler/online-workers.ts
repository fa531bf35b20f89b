import type { WorkerView } from "./views.ts"

/** False if the next heartbeat of the process is overdue. */
export function isOnline({ silentForMs }: WorkerView): boolean {
  return silentForMs === null
}

/** Whether the process performs runs, and so is a worker. Other processes only fire. */
export function isWorker({ roles }: WorkerView): boolean {
  return roles.includes("work")
}
