import { BelfryError } from "../../../core/errors.ts"
import type { Heartbeat, HeartbeatAnswer } from "../../../store/store.ts"
import { jsonTextOrNull } from "../../kit/isolation.ts"
import type { Runner } from "../database.ts"
import { isLockTimeout } from "../faults.ts"
import { CLOCK, instantOf, ms, type Row, spanFrom } from "../rows.ts"
import { versionedName } from "../schema/engine-function.ts"
import { addBatch } from "./statistics.ts"

const EXTEND = `
  select ${ms("f.extended_at")}, f.run_id
  from belfry.${versionedName("extend")}($2, $3, $4, $5, $6) as f`

const BEAT = `
  with ${CLOCK},
  beat as (
    insert into belfry.workers (id, host, pid, tasks, slots, state, started_at, heartbeat_at, running, roles, version, labels,
      expected_by)
    select $1, $7, $8, $9::text[], $10, $11, clock.now, clock.now, $12, $13::text[], $14, $15::jsonb,
      clock.now + ${spanFrom("$16")}
    from clock
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
      expected_by = excluded.expected_by
  )${EXTEND}`

export const LEAVE = `
  with leaving as (
    delete from belfry.workers
    where id = $1
  )${EXTEND}`

const SELECT_MISSING = `
  select r.id, r.attempt, r.state
  from belfry.runs as r
  where r.id = any ($1::text[])
    and r.state in ('cancelled', 'running')`

export async function beat(runner: Runner, heartbeat: Heartbeat): Promise<HeartbeatAnswer> {
  // The last heartbeat deletes the worker's record, which holds the number of the last batch. So its batch is added first.
  const wasAdded = heartbeat.isLeaving && (await addBatchIfPossible(runner, heartbeat))
  let rows: Awaited<ReturnType<Runner["rows"]>>
  try {
    rows = await extend(runner, heartbeat, lockWaitMs(heartbeat))
  } catch (error) {
    if (!isLockTimeout((error as Error).cause)) throw error
    // Another transaction locks a run, for example to complete it. The leases of the other runs must be extended all the same.
    rows = await extend(runner, heartbeat, 0)
  }
  const extended = new Set(rows.map((row) => row[1]))
  const missing = heartbeat.held.filter(({ runId }) => !extended.has(runId))
  const gone = missing.length === 0 ? [] : await goneOf(runner, missing)
  const areStatisticsIn = heartbeat.isLeaving ? wasAdded : await addBatchIfPossible(runner, heartbeat)
  return { now: instantOf(rows[0]![0]!), gone, areStatisticsIn }
}

/** A batch that can't be added now is sent again with the next heartbeat: no lease depends on it. */
async function addBatchIfPossible(runner: Runner, { worker, statistics }: Heartbeat): Promise<boolean> {
  try {
    return await addBatch(runner, worker.id, statistics)
  } catch (error) {
    // A refused batch can never be added, so the worker must not send it again.
    return error instanceof BelfryError && error.code === "BELFRY_STORE_REFUSED"
  }
}

/** There are three heartbeats per lease. Two that wait for locks in a row must not use up the lease. */
function lockWaitMs({ held }: Heartbeat): number {
  const shortestMs = Math.min(...held.map(({ leaseMs }) => leaseMs))
  return Math.max(1, Math.min(LOCK_WAIT_MAX_MS, Math.floor(shortestMs / 10)))
}

/** Belfry itself locks a row only for milliseconds. */
const LOCK_WAIT_MAX_MS = 500

function extend(
  runner: Runner,
  { worker, nextInMs, isLeaving, held: unsorted }: Heartbeat,
  lockWaitMs: number,
): Promise<readonly Row[]> {
  // Rows are locked in the order of their ids, so that two calls cannot deadlock.
  const held = [...unsorted].sort((a, b) => (a.runId < b.runId ? -1 : 1))
  const values = [
    worker.id,
    held.map(({ runId }) => runId),
    held.map(({ attempt }) => attempt),
    held.map(({ leaseMs }) => leaseMs),
    held.map(({ progress }) => jsonTextOrNull(progress)),
    lockWaitMs,
  ]
  const { host, pid, tasks, slots, state, roles, version, labels } = worker
  const workerValues = [
    host,
    pid,
    tasks,
    slots,
    state,
    held.length,
    roles,
    version,
    JSON.stringify(labels),
    nextInMs,
  ]
  return isLeaving ? runner.rows(LEAVE, values) : runner.rows(BEAT, [...values, ...workerValues])
}

/**
 * Read after the update, so that a cancel at the same time is seen. A run that is still running at that attempt was skipped,
 * because its row is locked. It isn't gone: no worker can claim a locked run, and the next heartbeat follows soon.
 */
async function goneOf(runner: Runner, missing: Heartbeat["held"]): Promise<HeartbeatAnswer["gone"]> {
  const rows = await runner.rows(SELECT_MISSING, [missing.map(({ runId }) => runId)])
  const states = new Map(rows.map(([id, attempt, state]) => [`${attempt} ${id}`, state]))
  return missing
    .map(({ runId, attempt }) => ({ runId, attempt, state: states.get(`${attempt} ${runId}`) }))
    .filter(({ state }) => state !== "running")
    .map(({ runId, attempt, state }) => ({ runId, attempt, why: state === "cancelled" ? state : "lost" }))
}
