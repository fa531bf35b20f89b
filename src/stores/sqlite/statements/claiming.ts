import type { Run } from "../../../core/run/run.ts"
import type { Instant } from "../../../core/time/instant.ts"
import type { Claimed, ClaimRequest } from "../../../store/store.ts"
import type { Prepared } from "../prepared.ts"
import { RUN_AT, RUN_COLUMNS, type RunRow, runOf } from "../rows.ts"
import { type Claimable, clearClaimableAt, failUnreadable, isEnded, take } from "./taking.ts"

// Goes from one priority of a task to the next by belfry_runs_due, one seek each: however many runs are pending, a task has few
// priorities. For each, it reads when the longest due run is due, and when the next run after now is.
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

// By belfry_runs_due, longest due first. A run that waits for its key is skipped by a seek in belfry_runs_key. A run doesn't
// count against its own key: a silent worker's run is still running. A row is identified by its rowid: an id that was written by
// SQL directly, without our checks, may be read as another one (SQLite stores invalid UTF-8, and drivers stop reading at a NUL).
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

type ClaimableRow = readonly [...RunRow, rowid: number]

interface Queue {
  readonly task: string
  /** Text if it is above `Number.MAX_SAFE_INTEGER`: see `withLargeNumbers`. Runs of that priority become failed. */
  readonly priority: number | string
  readonly first_at: Instant
  readonly next_at: Instant | string | null
}

/** The queues of the requested tasks. Read without the write lock first, to see whether a claim needs the lock. */
export function readQueues(connection: Prepared, request: ClaimRequest, now: Instant): readonly Queue[] {
  const names = [...new Set(request.tasks.map((task) => task.name))]
  return connection.prepare(SELECT_QUEUES).all(JSON.stringify(names), now) as Queue[]
}

export function isAnythingDue(queues: readonly Queue[], now: Instant): boolean {
  return queues.some((queue) => queue.first_at <= now)
}

/** Runs that are given were due before now, so `next_at` doesn't include them. */
export function nextClaimableAt(queues: readonly Queue[]): Instant | null {
  const instants = queues.map((queue) => queue.next_at).filter((instant) => typeof instant === "number")
  return instants.length === 0 ? null : Math.min(...instants)
}

/** Holds the write lock: no other process can claim, and the counts of keys can't change. */
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
  // Each round gives or ends at least one run, or is the last. The runs that it gives may fill a key, so the rest is read again.
  while (runs.length < limit) {
    const wanted = limit - runs.length
    const rows = names.flatMap((name) =>
      connection.rows<ClaimableRow>(SELECT_CLAIMABLE, [name, priority, now, wanted]),
    )
    const found = claimableOf(connection, rows, now)
    // Some runs couldn't be given: there may be others behind them.
    if (found.length < rows.length) continue
    if (names.length > 1) found.sort((a, b) => a.run.claimableAt! - b.run.claimableAt!)
    let isAll = found.length < wanted
    for (const [index, claimable] of found.slice(0, wanted).entries()) {
      // The key of the round's first run was checked when the run was read, and no run was given since.
      const isSkipped = index > 0 && isKeyFull(connection, claimable.run)
      const run = isSkipped ? null : take(connection, claimable, request, now)
      if (run === null) isAll = false
      else runs.push(run)
    }
    if (isAll) return
  }
}

/** The runs that can be given. Finished and unreadable runs are made not due, so that later claims don't read them. */
function claimableOf(connection: Prepared, rows: readonly ClaimableRow[], now: Instant): Claimable[] {
  return rows.flatMap((row) => {
    const rowid = row.at(-1) as number
    if (isEnded(row[RUN_AT.state])) {
      clearClaimableAt(connection, rowid)
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
