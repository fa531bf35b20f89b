import { DATE_MAX } from "../../core/sound.ts"
import type { Worker } from "../../store/store.ts"

/**
 * A worker as its record says, whatever somebody wrote into it. A part that isn't what its type says is nothing: no tasks, no
 * slots, never heard of. The worker's next heartbeat writes it again, and until then it must not hide the other workers.
 */
export function readableWorker(said: Said): Worker {
  return {
    id: String(said.id),
    host: typeof said.host === "string" ? said.host : "",
    pid: countOf(said.pid),
    tasks: Array.isArray(said.tasks) ? said.tasks.filter((task) => typeof task === "string") : [],
    slots: countOf(said.slots),
    state: said.state === "draining" ? "draining" : "active",
    startedAt: instantOf(said.startedAt),
    heartbeatAt: instantOf(said.heartbeatAt),
    running: countOf(said.running),
  }
}

type Said = { readonly [Part in keyof Worker]?: unknown }

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0
}

function instantOf(value: unknown): number {
  return typeof value === "number" && Math.abs(value) <= DATE_MAX ? value : 0
}
