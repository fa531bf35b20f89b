import type { Instant } from "../../../core/instant.ts"
import { isFinished, type RunChange, type RunState } from "../../../core/run.ts"
import type { Hint, TransitionAnswer } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { parse, withAttempt } from "../rows.ts"
import { holderOf } from "./enqueuing.ts"

const SELECT_RUN = `
  select state, attempt, live_key, concurrency_limit, worker_id, started_at, attempts
  from belfry_runs
  where id = ?`

const UPDATE_RUN = `
  update belfry_runs
  set state = ?,
    claimable_at = ?,
    completed_at = ?,
    failures = ?,
    lost = ?,
    message = ?,
    details = ?,
    error = ?,
    reason = coalesce(?, reason),
    by_name = coalesce(?, by_name),
    worker_id = ?,
    attempts = ?
  where id = ?`

interface ChangedRow {
  readonly state: RunState
  readonly attempt: number
  readonly live_key: string | null
  readonly concurrency_limit: number | null
  readonly worker_id: string | null
  readonly started_at: Instant | null
  readonly attempts: string
}

/** Under the write lock: the state and attempt that are compared are those that are replaced. */
export function changeRuns(
  connection: Connection,
  changes: readonly RunChange[],
  now: Instant,
): { answers: readonly TransitionAnswer[]; news: readonly Hint[] } {
  const news = new Set<Hint>()
  const answers = changes.map((change) => changeRun(connection, change, news, now))
  return { answers, news: [...news] }
}

function changeRun(
  connection: Connection,
  change: RunChange,
  news: Set<Hint>,
  now: Instant,
): TransitionAnswer {
  const row = connection.prepare(SELECT_RUN).get(change.runId) as ChangedRow | undefined
  if (row === undefined) return { outcome: "stale", state: null, attempt: 0 }
  const { state } = row
  if (state !== change.ifState || row.attempt !== change.ifAttempt) {
    return { outcome: "stale", state, attempt: row.attempt }
  }
  const isRevived = isFinished(state) && !isFinished(change.state)
  if (isRevived && holderOf(connection, row.live_key) !== null) return { outcome: "held" }

  applyChange(connection, row, change, now)
  if (change.state === "cancelled") news.add("cancelled")
  // A run that waits again, or one whose end lets another with its concurrency key begin.
  if (change.state === "pending" || row.concurrency_limit !== null) news.add("runs")
  return { outcome: "done" }
}

function applyChange(connection: Connection, row: ChangedRow, change: RunChange, now: Instant): void {
  const { state, claimableInMs, failures, lost, outcome, message, details, error, reason, by } = change
  const isEnded = outcome !== null
  connection
    .prepare(UPDATE_RUN)
    .run(
      state,
      claimableInMs === null ? null : now + claimableInMs,
      isFinished(state) ? now : null,
      failures,
      lost,
      message,
      JSON.stringify(details),
      error,
      reason,
      by,
      isEnded ? null : row.worker_id,
      isEnded ? storyOf(row, { outcome, at: now, error }) : row.attempts,
      change.runId,
    )
}

function storyOf(row: ChangedRow, ended: Parameters<typeof withAttempt>[1]): string {
  const { attempt, worker_id: workerId, started_at: startedAt } = row
  return JSON.stringify(withAttempt({ attempt, workerId, startedAt, attempts: parse(row.attempts) }, ended))
}
