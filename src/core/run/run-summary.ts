import type { Run } from "./run.ts"

/** The fields of a run that lists show: no large fields, and only the beginning of the message and the error. */
export type RunSummary = Omit<Run, "payload" | "details" | "attempts" | "retry">

/** In characters, as databases count them: a surrogate pair is one character. */
export const SUMMARY_TEXT_MAX = 200

/** Fields are listed one by one: a spread of two dozen fields takes several times longer, and lists are long. */
export function summaryOf(run: Run): RunSummary {
  return {
    id: run.id,
    task: run.task,
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
    timeoutMs: run.timeoutMs,
    reason: run.reason,
    by: run.by,
    state: run.state,
    claimableAt: run.claimableAt,
    attempt: run.attempt,
    failures: run.failures,
    lost: run.lost,
    workerId: run.workerId,
    createdAt: run.createdAt,
    dueAt: run.dueAt,
    startedAt: run.startedAt,
    completedAt: run.completedAt,
    message: beginningOf(run.message),
    error: beginningOf(run.error),
    progress: run.progress,
  }
}

function beginningOf(text: string | null): string | null {
  // A text has at most as many characters as UTF-16 units.
  if (text === null || text.length <= SUMMARY_TEXT_MAX) return text
  return [...text.slice(0, 2 * SUMMARY_TEXT_MAX)].slice(0, SUMMARY_TEXT_MAX).join("")
}
