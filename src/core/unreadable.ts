import type { RunChange } from "./run.ts"
import { NO_PROGRESS, NO_RUNS, type Schedule } from "./schedule.ts"

/**
 * A schedule that can't be read whole: what of it can be, and why the rest can't. It is due like any other, its plan says why
 * nothing comes of it, and then it waits for somebody to mend it.
 */
export function unreadableSchedule(
  known: Pick<Schedule, "id" | "version"> & Partial<Schedule>,
  why: string,
): Schedule {
  return { ...NOTHING_SAID, ...known, triggers: [{ kind: "unreadable", why }], lastError: why }
}

const NOTHING_SAID: Omit<Schedule, "id" | "version"> = {
  revision: 1,
  createdAt: 0,
  updatedAt: 0,
  declaredAs: null,
  task: "",
  payload: null,
  triggers: [],
  timezone: "UTC",
  dst: { gap: "after", overlap: "first" },
  priority: 0,
  jitterMs: 0,
  spacingMs: 0,
  startsAt: null,
  endsAt: null,
  maxRuns: null,
  removeWhenFinished: false,
  catchUp: { policy: "none", graceMs: 0, windowMs: 0, limit: 0 },
  overlap: { policy: "skip", limit: 0 },
  maxConcurrentRuns: null,
  dependsOn: [],
  retry: null,
  timeoutMs: null,
  enabled: true,
  tags: [],
  description: "",
  owner: null,
  release: 0,
  ...NO_PROGRESS,
  ...NO_RUNS,
}

/** The end of a run that was given out and can't be read: nobody could perform it. */
export function endUnreadable(
  run: { readonly id: string; readonly attempt: number },
  why: string,
): RunChange {
  return {
    runId: run.id,
    ifState: "running",
    ifAttempt: run.attempt,
    state: "failed",
    claimableInMs: null,
    failures: 1,
    lost: 0,
    outcome: "failed",
    message: null,
    details: null,
    error: why,
    progress: null,
    reason: "unreadable",
    by: null,
  }
}
