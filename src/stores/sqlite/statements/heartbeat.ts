import type { Instant } from "../../../core/time/instant.ts"
import type { Heartbeat, HeartbeatAnswer } from "../../../store/store.ts"
import { jsonTextOrNull } from "../../kit/isolation.ts"
import type { Prepared } from "../prepared.ts"
import { addBatch } from "./statistics.ts"

const UPSERT_WORKER = `
  insert into belfry_workers (id, host, pid, tasks, slots, state, started_at, heartbeat_at, running, roles, version, labels,
    expected_by)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (id) do update
  set host = excluded.host,
    pid = excluded.pid,
    tasks = excluded.tasks,
    slots = excluded.slots,
    state = excluded.state,
    heartbeat_at = excluded.heartbeat_at,
    running = excluded.running,
    roles = excluded.roles,
    version = excluded.version,
    labels = excluded.labels,
    expected_by = excluded.expected_by`

const DELETE_WORKER = `
  delete from belfry_workers
  where id = ?`

// Fenced by state and attempt: a worker that lost the run can't extend the lease of another worker.
const EXTEND_LEASE = `
  update belfry_runs
  set claimable_at = ?,
    progress = coalesce(?, progress),
    confirmed_attempt = attempt
  where id = ?
    and state = 'running'
    and attempt = ?`

const SELECT_CANCELLED = `
  select 1
  from belfry_runs
  where id = ?
    and state = 'cancelled'
    and attempt = ?`

export function beat(connection: Prepared, heartbeat: Heartbeat, now: Instant): HeartbeatAnswer {
  const { worker, isLeaving, held } = heartbeat
  if (!isLeaving) putWorker(connection, heartbeat, now)
  const areStatisticsIn = addBatch(connection, heartbeat, now)
  if (isLeaving) connection.prepare(DELETE_WORKER).run(worker.id)

  const extend = connection.prepare(EXTEND_LEASE)
  const gone = held
    .filter(
      ({ runId, attempt, leaseMs, progress }) =>
        extend.run(now + leaseMs, jsonTextOrNull(progress), runId, attempt).changes === 0,
    )
    .map(({ runId, attempt }) => {
      const isCancelled = connection.prepare(SELECT_CANCELLED).get(runId, attempt) !== undefined
      return { runId, attempt, why: isCancelled ? ("cancelled" as const) : ("lost" as const) }
    })
  return { now, gone, areStatisticsIn }
}

function putWorker(connection: Prepared, { worker, held, nextInMs }: Heartbeat, now: Instant): void {
  const { id, host, pid, tasks, slots, state, roles, version, labels } = worker
  const texts = [JSON.stringify(roles), version, JSON.stringify(labels)]
  connection
    .prepare(UPSERT_WORKER)
    .run(id, host, pid, JSON.stringify(tasks), slots, state, now, now, held.length, ...texts, now + nextInMs)
}
