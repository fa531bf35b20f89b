import type { Instant } from "../../../core/instant.ts"
import type { Run } from "../../../core/run.ts"
import type { Claimed, ClaimRequest } from "../../../store/store.ts"
import type { Prepared } from "../prepared.ts"
import { RUN_COLUMNS, type RunRow, runOf } from "../rows.ts"
import { type Claimable, failUnreadable, isEnded, letRest, take } from "./taking.ts"

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
// in its own way: one whose worker fell silent still counts as running. A row is told apart by its rowid: an id that was written
// without our checks may read as another one (SQLite keeps bytes that are no UTF-8, and a NUL ends what the driver reads).
export const SELECT_CLAIMABLE = `
  select ${RUN_COLUMNS}, rowid
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

const STATE = 16
type ClaimableRow = readonly [...RunRow, rowid: number]

interface Queue {
  readonly task: string
  /** Text where it is beyond what JavaScript can count: see `Connection`. Runs of that priority are failed as they come. */
  readonly priority: number | string
  readonly first_at: Instant
  readonly next_at: Instant | string | null
}

/** The queues of these tasks: without the write lock it tells whether a claim is worth taking it. */
export function readQueues(connection: Prepared, request: ClaimRequest, now: Instant): readonly Queue[] {
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
export function claimRuns(connection: Prepared, request: ClaimRequest, now: Instant): Claimed {
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
  connection: Prepared,
  request: ClaimRequest & { priority: number | string; names: readonly string[] },
  runs: Run[],
  now: Instant,
): void {
  const { priority, names, limit } = request
  // Each round gives or ends at least one run, or is the last: what a round takes may fill a key, so the rest is read again.
  while (runs.length < limit) {
    const wanted = limit - runs.length
    const rows = names.flatMap((name) =>
      connection.rows<ClaimableRow>(SELECT_CLAIMABLE, [name, priority, now, wanted]),
    )
    const found = givableOf(connection, rows, now)
    // Those that can't be given have made room: there may be others behind them.
    if (found.length < rows.length) continue
    if (names.length > 1) found.sort((a, b) => a.run.claimableAt! - b.run.claimableAt!)
    let isAll = found.length < wanted
    for (const [index, claimable] of found.slice(0, wanted).entries()) {
      // The first of a round was read with nothing taken since.
      const isPassed = index > 0 && isKeyFull(connection, claimable.run)
      const run = isPassed ? null : take(connection, claimable, request, now)
      if (run === null) isAll = false
      else runs.push(run)
    }
    if (isAll) return
  }
}

/** What is finished, or can't be read, is due no longer, so that it is neither given nor in the way. */
function givableOf(connection: Prepared, rows: readonly ClaimableRow[], now: Instant): Claimable[] {
  return rows.flatMap((row) => {
    const rowid = row.at(-1) as number
    if (isEnded(row[STATE])) {
      letRest(connection, rowid)
      return []
    }
    try {
      return [{ run: runOf(row as unknown as RunRow), rowid }]
    } catch (error) {
      failUnreadable(connection, rowid, error, now)
      return []
    }
  })
}

function isKeyFull(connection: Prepared, { id, concurrencyKey, concurrencyLimit }: Run): boolean {
  if (concurrencyKey === null || concurrencyLimit === null) return false
  const { running } = connection.prepare(COUNT_RUNNING).get(concurrencyKey, id) as { running: number }
  return running >= concurrencyLimit
}
