import type { Client } from "./client.ts"
import { collected } from "./listing.ts"
import { offeredTasks } from "./online-workers.ts"

/** A task that workers offer or schedules name. */
export interface TaskView {
  readonly name: string
  /** The number of online workers that offer the task. */
  readonly workers: number
  readonly schedules: number
}

const PAGE = 1_000

export async function listTasks(client: Pick<Client, "workers" | "schedules">): Promise<readonly TaskView[]> {
  const offered = offeredTasks(await collected(client.workers({ limit: PAGE })))
  const scheduled = new Map<string, number>()
  for await (const { task } of client.schedules.list({ limit: PAGE }))
    scheduled.set(task, (scheduled.get(task) ?? 0) + 1)
  return [...new Set([...offered.keys(), ...scheduled.keys()])]
    .sort()
    .map((name) => ({ name, workers: offered.get(name) ?? 0, schedules: scheduled.get(name) ?? 0 }))
}
