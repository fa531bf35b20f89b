import type { Instant } from "../../core/instant.ts"
import type { Run } from "../../core/run.ts"
import type { ClaimRequest } from "../../store/store.ts"
import { type Shelf, withAttempt } from "./shelf.ts"

/** Due runs of these tasks become this worker's, as far as their concurrency keys allow. */
export function claimRuns(shelf: Shelf, request: ClaimRequest, now: Instant): readonly Run[] {
  const leases = new Map(request.tasks.map(({ name, leaseMs }) => [name, leaseMs]))
  const due = [...shelf.unfinished.values()].filter((run) => leases.has(run.task) && run.claimableAt! <= now)
  due.sort((a, b) => b.priority - a.priority || a.claimableAt! - b.claimableAt!)

  const claimed: Run[] = []
  for (const run of due) {
    if (claimed.length >= request.limit) break
    if (isKeyFull(shelf, run)) continue
    const wasRunning = run.state === "running"
    const wasLost = wasRunning && shelf.isConfirmed(run)
    const taken: Run = {
      ...run,
      state: "running",
      attempt: run.attempt + 1,
      workerId: request.workerId,
      dueAt: run.claimableAt,
      startedAt: now,
      progress: null,
      claimableAt: now + leases.get(run.task)!,
      lost: run.lost + (wasLost ? 1 : 0),
      attempts: wasRunning
        ? withAttempt(run, wasLost ? "lost" : "unconfirmed", run.claimableAt!, null)
        : run.attempts,
    }
    shelf.putRun(taken)
    claimed.push(taken)
  }
  return claimed
}

function isKeyFull(shelf: Shelf, candidate: Run): boolean {
  const { concurrencyKey, concurrencyLimit } = candidate
  if (concurrencyKey === null || concurrencyLimit === null) return false
  let running = 0
  for (const run of shelf.unfinished.values()) {
    if (run.concurrencyKey === concurrencyKey && run.state === "running" && run.id !== candidate.id) running++
  }
  return running >= concurrencyLimit
}

/** Of what was not given: the worker knows its own leases. */
export function nextClaimableAt(
  shelf: Shelf,
  request: ClaimRequest,
  given: readonly Run[],
  now: Instant,
): Instant | null {
  const names = new Set(request.tasks.map((task) => task.name))
  const held = new Set(given.map((run) => run.id))
  let next: Instant | null = null
  for (const { id, task, claimableAt } of shelf.unfinished.values()) {
    const isNext = claimableAt! > now && (next === null || claimableAt! < next)
    if (isNext && names.has(task) && !held.has(id)) next = claimableAt
  }
  return next
}
