import type { WorkerView } from "./views.ts"

/** False if the next heartbeat of the process is overdue. */
export function isOnline({ silentForMs }: WorkerView): boolean {
  return silentForMs === null
}

/** Whether the process performs runs, and so is a worker. Other processes only fire. */
export function isWorker({ roles }: WorkerView): boolean {
  return roles.includes("work")
}

/** The tasks of the online workers, and how many workers offer each. */
export function offeredTasks(processes: readonly WorkerView[]): ReadonlyMap<string, number> {
  const offered = new Map<string, number>()
  for (const task of processes.filter(isOnline).flatMap(({ tasks }) => tasks))
    offered.set(task, (offered.get(task) ?? 0) + 1)
  return offered
}
