import type { Instant } from "../../../core/instant.ts"
import { isFinished, type Run } from "../../../core/run.ts"
import { RUN_STATES, type RunState } from "../../../core/run-states.ts"
import type { ClaimRequest } from "../../../store/store.ts"
import { unreadableBecause } from "../../kit/isolation.ts"
import { isUnkeepable } from "../faults.ts"
import type { Prepared } from "../prepared.ts"
import { withAttempt } from "../rows.ts"
import { noteUnreadable } from "./ends.ts"

/** A due run, and the row it was read from. */
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

// Finished work is due never. One that says otherwise was changed without our checks.
const REST_FINISHED = `
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

/** Makes the run this worker's. Null if its row can't be changed: it is failed then, since it would stop every claim to come. */
export function take(
  connection: Prepared,
  { run, rowid }: Claimable,
  request: ClaimRequest,
  now: Instant,
): Run | null {
  const step = stepOf(connection, run, request, now)
  const { attempt, workerId, claimableAt, lost, attempts } = step
  const values = [attempt, workerId, now, claimableAt, lost, JSON.stringify(attempts), rowid, run.id]
  try {
    const { changes } = connection.prepare(TAKE_RUN).run(...values)
    // Nobody else has this record yet: it was made of the row a moment ago, and a copy of thirty fields is what costs most.
    if (Number(changes) === 1) return Object.assign(run, step)
    failUnreadable(connection, rowid, `its id is not ${JSON.stringify(run.id)}, as which it is read`, now)
  } catch (error) {
    if (!isUnkeepable(error)) throw error
    failUnreadable(connection, rowid, error, now)
  }
  return null
}

export function failUnreadable(connection: Prepared, rowid: number, error: unknown, now: Instant): void {
  connection.prepare(FAIL_UNREADABLE).run(now, unreadableBecause(error), rowid)
  noteUnreadable(connection, rowid, now)
}

/** In one of the states that end a run; one that is no state at all can't be read. */
export function isEnded(state: RunState): boolean {
  return ENDS.has(state)
}

/** A run that has ended keeps its end. */
export function letRest(connection: Prepared, rowid: number): void {
  connection.prepare(REST_FINISHED).run(rowid)
}

function stepOf(connection: Prepared, run: Run, request: ClaimRequest, now: Instant) {
  const { leaseMs } = request.tasks.findLast((task) => task.name === run.task)!
  const silenced = run.state === "running" ? silenceOf(connection, run) : null
  return {
    state: "running" as const,
    attempt: run.attempt + 1,
    workerId: request.workerId,
    dueAt: run.claimableAt,
    startedAt: now,
    claimableAt: now + leaseMs,
    progress: null,
    lost: run.lost + (silenced === "lost" ? 1 : 0),
    attempts:
      silenced === null
        ? run.attempts
        : withAttempt(run, { outcome: silenced, at: run.claimableAt!, error: null }),
  }
}

/** How the attempt ended of a worker that fell silent. */
function silenceOf(connection: Prepared, { id }: Run): "lost" | "unconfirmed" {
  return connection.prepare(SELECT_CONFIRMED).get(id) === undefined ? "unconfirmed" : "lost"
}
