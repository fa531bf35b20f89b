import type { Instant } from "../time/instant.ts"
import {
  ATTEMPTS_KEPT,
  type Attempt,
  type AttemptOutcome,
  firstClaimableAt,
  type NewRun,
  type Run,
} from "./run.ts"

/** The record of a run that is created at `now`. Every field is named: a spread of two dozen fields takes several times longer. */
export function storedRun(run: NewRun, now: Instant): Run {
  const isSkip = run.state === "skipped"
  return {
    id: run.id,
    task: run.task,
    payload: run.payload,
    priority: run.priority,
    scheduleId: run.scheduleId,
    scheduledFor: run.scheduledFor,
    parentId: run.parentId,
    triggeredBy: run.triggeredBy,
    trigger: run.trigger,
    missed: run.missed,
    liveKey: run.liveKey,
    concurrencyKey: run.concurrencyKey,
    concurrencyLimit: run.concurrencyLimit,
    retry: run.retry,
    timeoutMs: run.timeoutMs,
    reason: run.reason,
    by: run.by,
    state: run.state,
    claimableAt: isSkip ? null : firstClaimableAt(run, now),
    attempt: 0,
    failures: 0,
    lost: 0,
    workerId: null,
    createdAt: now,
    dueAt: null,
    startedAt: null,
    completedAt: isSkip ? now : null,
    message: run.message,
    details: null,
    error: null,
    progress: null,
    attempts: [],
  }
}

/** The run's attempts, with the current attempt ended. */
export function withAttempt(
  run: Pick<Run, "attempt" | "workerId" | "dueAt" | "startedAt" | "attempts">,
  ended: { readonly outcome: AttemptOutcome; readonly at: Instant; readonly error: string | null },
): readonly Attempt[] {
  const attempt: Attempt = {
    attempt: run.attempt,
    workerId: run.workerId ?? "",
    dueAt: run.dueAt ?? run.startedAt ?? ended.at,
    startedAt: run.startedAt ?? ended.at,
    endedAt: ended.at,
    outcome: ended.outcome,
    error: ended.error,
  }
  return [...run.attempts, attempt].slice(-ATTEMPTS_KEPT)
}
