import { DATE_MAX } from "../../core/records/valid-records.ts"
import { MINUTE } from "../../core/time/instant.ts"
import type { Worker, WorkerRole } from "../../store/store.ts"

/**
 * A worker from its stored record, which another program may have damaged. A field of the wrong type is read as empty: no tasks,
 * 0 slots, instant 0. The worker's next heartbeat writes the record again; until then it must not hide other workers.
 */
export function readableWorker(stored: StoredWorker): Worker {
  const heartbeatAt = instantOf(stored.heartbeatAt)
  return {
    id: String(stored.id),
    host: typeof stored.host === "string" ? stored.host : "",
    pid: countOf(stored.pid),
    tasks: Array.isArray(stored.tasks) ? stored.tasks.filter((task) => typeof task === "string") : [],
    slots: countOf(stored.slots),
    state: stored.state === "draining" ? "draining" : "active",
    roles: ROLES.filter((role) => Array.isArray(stored.roles) && stored.roles.includes(role)),
    version: typeof stored.version === "string" ? stored.version : "",
    labels: labelsOf(stored.labels),
    startedAt: instantOf(stored.startedAt),
    heartbeatAt,
    // Versions of Belfry before `expectedBy` existed don't write it.
    expectedBy: instantOf(stored.expectedBy) || heartbeatAt + MINUTE,
    running: countOf(stored.running),
  }
}

type StoredWorker = { readonly [Part in keyof Worker]?: unknown }

const ROLES: readonly WorkerRole[] = ["fire", "work"]

function labelsOf(stored: unknown): Readonly<Record<string, string>> {
  if (typeof stored !== "object" || stored === null || Array.isArray(stored)) return {}
  return Object.fromEntries(Object.entries(stored).filter(([, label]) => typeof label === "string"))
}

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0
}

function instantOf(value: unknown): number {
  return typeof value === "number" && Math.abs(value) <= DATE_MAX ? value : 0
}
