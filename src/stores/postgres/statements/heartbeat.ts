import { BelfryError } from "../../../core/errors.ts"
import type { Heartbeat, HeartbeatAnswer } from "../../../store/store.ts"
import type { Runner } from "../database.ts"
import { isLockTimeout } from "../faults.ts"
import { CLOCK, instantOf, ms, type Row, spanFrom, textOrNull } from "../rows.ts"
import { named } from "../schema/engine-function.ts"
import { addBatch } from "./statistics.ts"

const EXTEND = `
  select ${ms("f.extended_at")}, f.run_id
  from belfry.${named("extend")}($2, $3, $4, $5, $6) as f`

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
  // The last heartbeat deletes the worker's record, which remembers the batches.
  const wasIn = heartbeat.isLeaving && (await keepBatch(runner, heartbeat))
  let rows: Awaited<ReturnType<Runner["rows"]>>
  try {
    rows = await extend(runner, heartbeat, patienceMs(heartbeat))
  } catch (error) {
    if (!isLockTimeout((error as Error).cause)) throw error
    // One run that a transaction keeps, such as the one that is to complete it, must not cost the worker all the others.
    rows = await extend(runner, heartbeat, 0)
  }
  const extended = new Set(rows.map((row) => row[1]))
  const missing = heartbeat.held.filter(({ runId }) => !extended.has(runId))
  const gone = missing.length === 0 ? [] : await goneOf(runner, missing)
  const areStatisticsIn = heartbeat.isLeaving ? wasIn : await keepBatch(runner, heartbeat)
  return { now: instantOf(rows[0]![0]!), gone, areStatisticsIn }
}

/** What can't be added now comes again with the next beat: no lease depends on it. */
async function keepBatch(runner: Runner, { worker, statistics }: Heartbeat): Promise<boolean> {
  try {
    return await addBatch(runner, worker.id, statistics)
  } catch (error) {
    // It never will be.
    return error instanceof BelfryError && error.code === "BELFRY_STORE_REFUSED"
  }
}

/** Beats come three times a lease: two in a row that wait must not use it up. */
function patienceMs({ held }: Heartbeat): number {
  const shortestMs = Math.min(...held.map(({ leaseMs }) => leaseMs))
  return Math.max(1, Math.min(PATIENCE_MAX_MS, Math.floor(shortestMs / 10)))
}

/** Belfry itself holds a row for milliseconds. */
const PATIENCE_MAX_MS = 500

function extend(
  runner: Runner,
  { worker, nextInMs, isLeaving, held: given }: Heartbeat,
  patienceMs: number,
): Promise<readonly Row[]> {
  // In one order, as everyone takes rows: so that nobody waits for one who waits for them.
  const held = [...given].sort((a, b) => (a.runId < b.runId ? -1 : 1))
  const values = [
    worker.id,
    held.map(({ runId }) => runId),
    held.map(({ attempt }) => attempt),
    held.map(({ leaseMs }) => leaseMs),
    held.map(({ progress }) => textOrNull(progress)),
    patienceMs,
  ]
  const { host, pid, tasks, slots, state, roles, version, labels } = worker
  const about = [
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
  return isLeaving ? runner.rows(LEAVE, values) : runner.rows(BEAT, [...values, ...about])
}

/**
 * Asked afterwards: a cancel that came at the same moment is seen. What is still running at that attempt was passed over,
 * and isn't gone: while its row is held nobody can take it, and the next beat comes before long.
 */
async function goneOf(runner: Runner, missing: Heartbeat["held"]): Promise<HeartbeatAnswer["gone"]> {
  const rows = await runner.rows(SELECT_MISSING, [missing.map(({ runId }) => runId)])
  const states = new Map(rows.map(([id, attempt, state]) => [`${attempt} ${id}`, state]))
  return missing
    .map(({ runId, attempt }) => ({ runId, attempt, state: states.get(`${attempt} ${runId}`) }))
    .filter(({ state }) => state !== "running")
    .map(({ runId, attempt, state }) => ({ runId, attempt, why: state === "cancelled" ? state : "lost" }))
}
