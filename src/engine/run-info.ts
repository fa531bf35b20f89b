import type { RetryPolicy } from "../core/run/backoff.ts"
import type { Run } from "../core/run/run.ts"
import type { Store } from "../store/store.ts"
import type { LastSuccess, RunInfo } from "../task/task-context.ts"

/** The information on a run that its task gets. */
export function infoOf(run: Run, policy: RetryPolicy): RunInfo {
  const { missed } = run
  return {
    id: run.id,
    attempt: run.attempt,
    isLastAttempt: run.failures + 1 >= policy.attempts,
    task: run.task,
    scheduleId: run.scheduleId,
    scheduledFor: run.scheduledFor === null ? null : new Date(run.scheduledFor),
    triggeredBy: run.triggeredBy,
    standsFor: 1 + (missed?.count ?? 0),
    missed:
      missed === null
        ? null
        : { from: new Date(missed.from), until: new Date(missed.until), count: missed.count },
  }
}

/** Read from the store when the task asks for it. */
export async function lastSuccessOf(store: Store, scheduleId: string | null): Promise<LastSuccess | null> {
  if (scheduleId === null) return null
  const page = { orderBy: "completedAt", after: null, limit: 1 } as const
  const [newest] = await store.findRuns({ scheduleId, states: ["succeeded"] }, page)
  const [run] = newest === undefined ? [] : await store.readRuns([newest.id])
  if (run === undefined) return null
  return {
    runId: run.id,
    scheduledFor: run.scheduledFor === null ? null : new Date(run.scheduledFor),
    completedAt: new Date(run.completedAt!),
    message: run.message,
    details: run.details,
  }
}
