import type { Instant } from "../../../core/instant.ts"
import type { Run } from "../../../core/run.ts"
import type { Claimed, ClaimRequest } from "../../../store/store.ts"
import { unreadableBecause } from "../../shared/apart.ts"
import type { Connection } from "../connection.ts"
import { RUN_COLUMNS, type RunRow, runOf, withAttempt } from "../rows.ts"

// From one priority of a task to the next by belfry_runs_due, a seek each: however many runs wait, a task has few
// priorities. For each the two instants that decide: when its oldest run is due, and when the next one after now is.
export const SELECT_QUEUES = `
  with recursive queues (task, priority) as (
    select value,
      (
        select max(priority)
        from belfry_runs
        where task = value
          and claimable_at is not null
      )
    from json_each(?)
    union all
    select task,
      (
        select max(priority)
        from belfry_runs
        where belfry_runs.task = queues.task
          and priority < queues.priority
          and claimable_at is not null
      )
    from queues
    where priority is not null
  )
  select task,
    priority,
    (
      select min(claimable_at)
      from belfry_runs
      where belfry_runs.task = queues.task
        and belfry_runs.priority = queues.priority
        and claimable_at is not null
    ) as first_at,
    (
      select min(claimable_at)
      from belfry_runs
      where belfry_runs.task = queues.task
        and belfry_runs.priority = queues.priority
        and claimable_at > ?
    ) as next_at
  from queues
  where priority is not null`

// By belfry_runs_due, longest due first; what waits for its key is passed over by a seek in belfry_runs_key. A run is not
// in its own way: one whose worker fell silent still counts as running.
export const SELECT_CLAIMABLE = `
  select ${RUN_COLUMNS}
  from belfry_runs
  where task = ?
    and priority = ?
    and claimable_at <= ?
    and (
      concurrency_limit is null
      or concurrency_key is null
      or (
        select count(*)
        from belfry_runs as other
        where other.concurrency_key = belfry_runs.concurrency_key
          and other.state = 'running'
          and other.state in ('pending', 'running')
          and other.id <> belfry_runs.id
      ) < concurrency_limit
    )
  order by claimable_at
  limit ?`

const COUNT_RUNNING = `
  select count(*) as running
  from belfry_runs
  where concurrency_key = ?
    and state = 'running'
    and state in ('pending', 'running')
    and id <> ?`

const FAIL_UNREADABLE = `
  update belfry_runs
  set state = 'failed',
    claimable_at = null,
    completed_at = ?,
    error = ?,
    reason = 'unreadable'
  where id = ?`

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
  where id = ?`

interface Queue {
  readonly task: string
  /** Text where it is beyond what JavaScript can count: see `Connection`. Runs of that priority are failed as they come. */
  readonly priority: number | string
  readonly first_at: Instant
  readonly next_at: Instant | string | null
}

/** The queues of these tasks: without the write lock it tells whether a claim is worth taking it. */
export function readQueues(connection: Connection, request: ClaimRequest, now: Instant): readonly Queue[] {
  const names = [...new Set(request.tasks.map((task) => task.name))]
  return connection.prepare(SELECT_QUEUES).all(JSON.stringify(names), now) as Queue[]
}

export function isAnythingDue(queues: readonly Queue[], now: Instant): boolean {
  return queues.some((queue) => queue.first_at <= now)
}

/** What is given was due already, so none of it is the next. */
export function nextClaimableAt(queues: readonly Queue[]): Instant | null {
  const instants = queues.map((queue) => queue.next_at).filter((instant) => typeof instant === "number")
  return instants.length === 0 ? null : Math.min(...instants)
}

/** Under the write lock: nobody else claims meanwhile, and the keys' counts stay as they are read. */
export function claimRuns(connection: Connection, request: ClaimRequest, now: Instant): Claimed {
  const queues = readQueues(connection, request, now)
  const due = queues.filter((queue) => queue.first_at <= now)
  const priorities = [...new Set(due.map((queue) => queue.priority))].sort((a, b) => Number(b) - Number(a))
  const runs: Run[] = []
  for (const priority of priorities) {
    const tasks = due.filter((queue) => queue.priority === priority).map((queue) => queue.task)
    claimOfPriority(connection, { ...request, priority, names: tasks }, runs, now)
    if (runs.length >= request.limit) break
  }
  return { now, runs, nextClaimableAt: nextClaimableAt(queues) }
}

function claimOfPriority(
  connection: Connection,
  request: ClaimRequest & { priority: number | string; names: readonly string[] },
  runs: Run[],
  now: Instant,
): void {
  const { priority, names, limit } = request
  // Each round gives at least one run or is the last: what a round takes may fill a key, so the rest is read again.
  while (runs.length < limit) {
    const wanted = limit - runs.length
    const rows = names.flatMap((name) =>
      connection.rows<RunRow>(SELECT_CLAIMABLE, [name, priority, now, wanted]),
    )
    const found = readableOf(connection, rows, now)
    // Those that can't be read have made room: there may be others behind them.
    if (found.length < rows.length) continue
    if (names.length > 1) found.sort((a, b) => a.claimableAt! - b.claimableAt!)
    const before = runs.length
    for (const [index, run] of found.slice(0, wanted).entries()) {
      // The first of a round was read with nothing taken since.
      if (index === 0 || !isKeyFull(connection, run)) runs.push(take(connection, run, request, now))
    }
    const isAll = found.length < wanted && runs.length - before === found.length
    if (isAll || runs.length === before) return
  }
}

/** What can't be read is failed, so that it is neither given nor in the way. */
function readableOf(connection: Connection, rows: readonly RunRow[], now: Instant): Run[] {
  return rows.flatMap((row) => {
    try {
      return [runOf(row)]
    } catch (error) {
      connection.prepare(FAIL_UNREADABLE).run(now, unreadableBecause(error), row[0])
      return []
    }
  })
}

function isKeyFull(connection: Connection, { id, concurrencyKey, concurrencyLimit }: Run): boolean {
  if (concurrencyKey === null || concurrencyLimit === null) return false
  const { running } = connection.prepare(COUNT_RUNNING).get(concurrencyKey, id) as { running: number }
  return running >= concurrencyLimit
}

function take(connection: Connection, run: Run, request: ClaimRequest, now: Instant): Run {
  const { leaseMs } = request.tasks.findLast((task) => task.name === run.task)!
  const silenced = run.state === "running" ? silenceOf(connection, run) : null
  const step = {
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
  const { attempt, workerId, claimableAt } = step
  connection
    .prepare(TAKE_RUN)
    .run(attempt, workerId, now, claimableAt, step.lost, JSON.stringify(step.attempts), run.id)
  // Nobody else has this record yet: it was made of the row a moment ago, and a copy of thirty fields is what costs most.
  return Object.assign(run, step)
}

/** How the attempt ended of a worker that fell silent. */
function silenceOf(connection: Connection, { id }: Run): "lost" | "unconfirmed" {
  return connection.prepare(SELECT_CONFIRMED).get(id) === undefined ? "unconfirmed" : "lost"
}
