import type { Client } from "./client.ts"

/** A task that workers offer or schedules name. */
export interface TaskView {
  readonly name: string
  /** The number of online workers that offer the task. */
  readonly workers: number
  readonly schedules: number
}

const PAGE = 1_000

export async function listTasks(client: Pick<Client, "workers" | "schedules">): Promise<readonly TaskView[]> {
  const offered = new Map<string, number>()
  const scheduled = new Map<string, number>()
  for await (const { tasks, silentForMs } of client.workers({ limit: PAGE }))
    if (silentForMs === null) for (const task of tasks) addOne(offered, task)
  for await (const { task } of client.schedules.list({ limit: PAGE })) addOne(scheduled, task)
  return [...new Set([...offered.keys(), ...scheduled.keys()])]
    .sort()
    .map((name) => ({ name, workers: offered.get(name) ?? 0, schedules: scheduled.get(name) ?? 0 }))
}

function addOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
