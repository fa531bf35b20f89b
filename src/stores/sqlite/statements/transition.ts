import { claimableAfter, isFinished, type RunChange, type RunState } from "../../../core/run/run.ts"
import { withAttempt } from "../../../core/run/stored-run.ts"
import { isEnd } from "../../../core/schedule/schedule-tally.ts"
import type { Instant } from "../../../core/time/instant.ts"
import type { TransitionAnswer } from "../../../store/store.ts"
import { finite, jsonText, jsonTextOrNull } from "../../kit/isolation.ts"
import type { Prepared } from "../prepared.ts"
import { attemptsIn } from "../rows.ts"
import { recordEnd } from "./ends.ts"
import { holderOf } from "./enqueuing.ts"

export const SELECT_CHANGED = `
  select id, state, attempt, schedule_id, live_key, concurrency_limit, worker_id, due_at, started_at, attempts
  from belfry_runs
  where id in (select value from json_each(?))`

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
    progress = coalesce(?, progress),
    reason = coalesce(?, reason),
    by_name = coalesce(?, by_name),
    worker_id = ?,
    attempts = ?
  where id = ?`

interface ChangedRow {
  readonly id: string
  readonly state: RunState
  readonly attempt: number
  readonly schedule_id: string | null
  readonly live_key: string | null
  readonly concurrency_limit: number | null
  readonly worker_id: string | null
  readonly due_at: Instant | null
  readonly started_at: Instant | null
  readonly attempts: string
}

/** Holds the write lock: the state and attempt can't change between the comparison and the update. */
export function changeRuns(
  connection: Prepared,
  changes: readonly RunChange[],
  now: Instant,
): { answers: readonly TransitionAnswer[]; mayFreeRuns: boolean } {
  const rows = rowsOf(connection, changes)
  const answers = changes.map((change) => changeRun(connection, rows, change, now))
  const isLimited = ({ runId }: RunChange, index: number) =>
    answers[index]!.outcome === "done" && rows.get(runId)!.concurrency_limit !== null
  return { answers, mayFreeRuns: changes.some(isLimited) }
}

/** The runs' rows, read once for the whole call and kept up to date: one call may change a run twice. */
type Rows = Map<string, ChangedRow>

function rowsOf(connection: Prepared, changes: readonly RunChange[]): Rows {
  const ids = JSON.stringify(changes.map((change) => change.runId))
  const rows = connection.prepare(SELECT_CHANGED).all(ids) as ChangedRow[]
  return new Map(rows.map((row) => [row.id, row]))
}

function changeRun(connection: Prepared, rows: Rows, change: RunChange, now: Instant): TransitionAnswer {
  const row = rows.get(change.runId)
  if (row === undefined) return { outcome: "stale", state: null, attempt: 0 }
  const { state } = row
  if (state !== change.ifState || row.attempt !== change.ifAttempt) {
    return { outcome: "stale", state, attempt: Number(row.attempt) }
  }
  const isRetried = isFinished(state) && !isFinished(change.state)
  if (isRetried && holderOf(connection, row.live_key) !== null) return { outcome: "held" }

  rows.set(row.id, applyChange(connection, row, change, now))
  if (row.schedule_id !== null && isEnd(change.state))
    recordEnd(connection, row.schedule_id, change.state, now)
  return { outcome: "done" }
}

function applyChange(connection: Prepared, row: ChangedRow, change: RunChange, now: Instant): ChangedRow {
  const { state, failures, lost, outcome, message, details, error, reason, by } = change
  const claimableAt = claimableAfter(change, row.due_at, now)
  const isEnded = outcome !== null
  const workerId = isEnded ? null : row.worker_id
  const attempts = isEnded ? attemptsText(row, { outcome, at: now, error }) : row.attempts
  connection
    .prepare(UPDATE_RUN)
    .run(
      state,
      claimableAt === null ? null : finite(claimableAt),
      isFinished(state) ? now : null,
      failures,
      lost,
      message,
      jsonText(details),
      error,
      jsonTextOrNull(change.progress),
      reason,
      by,
      workerId,
      attempts,
      change.runId,
    )
  return { ...row, state, worker_id: workerId, attempts }
}

function attemptsText(row: ChangedRow, ended: Parameters<typeof withAttempt>[1]): string {
  const { attempt, worker_id: workerId, due_at: dueAt, started_at: startedAt } = row
  return JSON.stringify(
    withAttempt({ attempt, workerId, dueAt, startedAt, attempts: attemptsIn(row.attempts) }, ended),
  )
}
