import type { Run } from "../../core/run/run.ts"
import { withAttempt } from "../../core/run/stored-run.ts"
import type { Instant } from "../../core/time/instant.ts"
import type { ClaimRequest } from "../../store/store.ts"
import type { MemoryTables } from "./memory-tables.ts"

/** Gives due runs of the requested tasks to the worker, as far as their concurrency keys allow. */
export function claimRuns(tables: MemoryTables, request: ClaimRequest, now: Instant): readonly Run[] {
  const leases = new Map(request.tasks.map(({ name, leaseMs }) => [name, leaseMs]))
  const claimed: Run[] = []
  for (const run of tables.unfinished.claimable(now, [...leases.keys()])) {
    if (claimed.length >= request.limit) break
    const wasRunning = run.state === "running"
    const wasLost = wasRunning && tables.isConfirmed(run)
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
        ? withAttempt(run, { outcome: wasLost ? "lost" : "unconfirmed", at: run.claimableAt!, error: null })
        : run.attempts,
    }
    tables.putRun(taken)
    claimed.push(taken)
  }
  return claimed
}

/** Ignores the runs just given: the worker knows when their leases end. */
export function nextClaimableAt(
  tables: MemoryTables,
  request: ClaimRequest,
  given: readonly Run[],
  now: Instant,
): Instant | null {
  const names = [...new Set(request.tasks.map((task) => task.name))]
  const held = new Set(given.map((run) => run.id))
  return tables.unfinished.nextClaimableAt(now, names, ({ id }) => !held.has(id))
}
