import { isFinished, type Run } from "../../../core/run/run.ts"
import { RUN_STATES, type RunState } from "../../../core/run/run-states.ts"
import { withAttempt } from "../../../core/run/stored-run.ts"
import type { Instant } from "../../../core/time/instant.ts"
import type { ClaimRequest } from "../../../store/store.ts"
import { unreadableBecause } from "../../kit/isolation.ts"
import { isUnstorable } from "../faults.ts"
import type { Prepared } from "../prepared.ts"
import { recordUnreadableEnd } from "./ends.ts"

/** A due run, and the rowid of its row. */
export interface Claimable {
  readonly run: Run
  readonly rowid: number
}

const ENDS: ReadonlySet<RunState> = new Set(RUN_STATES.filter(isFinished))

const FAIL_UNREADABLE = `
  update belfry_runs
  set state = 'failed',
    claimable_at = null,
    completed_at = ?,
    error = ?,
    reason = 'unreadable'
  where rowid = ?`

// A finished run is never due. One with a `claimable_at` was written by SQL directly, without our checks.
const CLEAR_CLAIMABLE_AT = `
  update belfry_runs
  set claimable_at = null
  where rowid = ?`

const SELECT_CONFIRMED = `
  select 1
  from belfry_runs
  where id = ?
    and confirmed_attempt = attempt`

const TAKE_RUN = `
  update belfry_runs
  set state = 'running',
    attempt = ?,
    worker_id = ?,
    due_at = claimable_at,
    started_at = ?,
    claimable_at = ?,
    progress = null,
    lost = ?,
    attempts = ?
  where rowid = ?
    and id = ?`

/** Gives the run to the worker. Null: its row can't be changed; the run becomes failed, or it would stop every later claim. */
export function take(
  connection: Prepared,
  { run, rowid }: Claimable,
  request: ClaimRequest,
  now: Instant,
): Run | null {
  const claimed = claimedFieldsOf(connection, run, request, now)
  const { attempt, workerId, claimableAt, lost, attempts } = claimed
  const values = [attempt, workerId, now, claimableAt, lost, JSON.stringify(attempts), rowid, run.id]
  try {
    const { changes } = connection.prepare(TAKE_RUN).run(...values)
    // Changed in place: no other code has this record yet, and a copy of thirty fields would be the largest cost of a claim.
    if (Number(changes) === 1) return Object.assign(run, claimed)
    failUnreadable(
      connection,
      rowid,
      `its id is read as ${JSON.stringify(run.id)}, but stored differently`,
      now,
    )
  } catch (error) {
    if (!isUnstorable(error)) throw error
    failUnreadable(connection, rowid, error, now)
  }
  return null
}

export function failUnreadable(connection: Prepared, rowid: number, error: unknown, now: Instant): void {
  connection.prepare(FAIL_UNREADABLE).run(now, unreadableBecause(error), rowid)
  recordUnreadableEnd(connection, rowid, now)
}

/** Whether the state ends a run. An unknown state doesn't: its run can't be read. */
export function isEnded(state: RunState): boolean {
  return ENDS.has(state)
}

/** For a finished run: its end stays unchanged. */
export function clearClaimableAt(connection: Prepared, rowid: number): void {
  connection.prepare(CLEAR_CLAIMABLE_AT).run(rowid)
}

function claimedFieldsOf(connection: Prepared, run: Run, request: ClaimRequest, now: Instant) {
  const { leaseMs } = request.tasks.findLast((task) => task.name === run.task)!
  const silentOutcome = run.state === "running" ? silentOutcomeOf(connection, run) : null
  return {
    state: "running" as const,
    attempt: run.attempt + 1,
    workerId: request.workerId,
    dueAt: run.claimableAt,
    startedAt: now,
    claimableAt: now + leaseMs,
    progress: null,
    lost: run.lost + (silentOutcome === "lost" ? 1 : 0),
    attempts:
      silentOutcome === null
        ? run.attempts
        : withAttempt(run, { outcome: silentOutcome, at: run.claimableAt!, error: null }),
  }
}

/** The outcome of an attempt whose worker fell silent. */
function silentOutcomeOf(connection: Prepared, { id }: Run): "lost" | "unconfirmed" {
  return connection.prepare(SELECT_CONFIRMED).get(id) === undefined ? "unconfirmed" : "lost"
}
