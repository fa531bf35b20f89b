import { MINUTE } from "../../core/instant.ts"
import { DATE_MAX } from "../../core/sound.ts"
import type { Worker, WorkerRole } from "../../store/store.ts"

/**
 * A worker as its record says, whatever somebody wrote into it. A part that isn't what its type says is nothing: no tasks, no
 * slots, never heard of. The worker's next heartbeat writes it again, and until then it must not hide the other workers.
 */
export function readableWorker(said: Said): Worker {
  const heartbeatAt = instantOf(said.heartbeatAt)
  return {
    id: String(said.id),
    host: typeof said.host === "string" ? said.host : "",
    pid: countOf(said.pid),
    tasks: Array.isArray(said.tasks) ? said.tasks.filter((task) => typeof task === "string") : [],
    slots: countOf(said.slots),
    state: said.state === "draining" ? "draining" : "active",
    roles: ROLES.filter((role) => Array.isArray(said.roles) && said.roles.includes(role)),
    version: typeof said.version === "string" ? said.version : "",
    labels: labelsOf(said.labels),
    startedAt: instantOf(said.startedAt),
    heartbeatAt,
    // Of a version before it was said.
    expectedBy: instantOf(said.expectedBy) || heartbeatAt + MINUTE,
    running: countOf(said.running),
  }
}

type Said = { readonly [Part in keyof Worker]?: unknown }

const ROLES: readonly WorkerRole[] = ["fire", "work"]

function labelsOf(said: unknown): Readonly<Record<string, string>> {
  if (typeof said !== "object" || said === null || Array.isArray(said)) return {}
  return Object.fromEntries(Object.entries(said).filter(([, label]) => typeof label === "string"))
}

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0
}

function instantOf(value: unknown): number {
  return typeof value === "number" && Math.abs(value) <= DATE_MAX ? value : 0
}
