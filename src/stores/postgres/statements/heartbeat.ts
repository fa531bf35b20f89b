import type { Heartbeat, HeartbeatAnswer } from "../../../store/store.ts"
import type { Runner } from "../database.ts"
import { CLOCK, instantOf, ms, textOrNull } from "../rows.ts"

const EXTEND = `
  select ${ms("f.extended_at")}, f.run_id
  from belfry.extend($2, $3, $4, $5) as f`

export const BEAT = `
  with ${CLOCK},
  beat as (
    insert into belfry.workers (id, host, pid, tasks, slots, state, started_at, heartbeat_at, running)
    select $1, $6, $7, $8::text[], $9, $10, clock.now, clock.now, $11
    from clock
    on conflict (id) do update
    set host = excluded.host,
      pid = excluded.pid,
      tasks = excluded.tasks,
      slots = excluded.slots,
      state = excluded.state,
      heartbeat_at = excluded.heartbeat_at,
      running = excluded.running
  )${EXTEND}`

export const LEAVE = `
  with leaving as (
    delete from belfry.workers
    where id = $1
  )${EXTEND}`

export const SELECT_CANCELLED = `
  select r.id, r.attempt
  from belfry.runs as r
  where r.id = any ($1::text[])
    and r.state = 'cancelled'`

export async function beat(runner: Runner, heartbeat: Heartbeat): Promise<HeartbeatAnswer> {
  const { worker, isLeaving } = heartbeat
  // In one order, as everyone takes rows: so that nobody waits for one who waits for them.
  const held = [...heartbeat.held].sort((a, b) => (a.runId < b.runId ? -1 : 1))
  const values = [
    worker.id,
    held.map(({ runId }) => runId),
    held.map(({ attempt }) => attempt),
    held.map(({ leaseMs }) => leaseMs),
    held.map(({ progress }) => textOrNull(progress)),
  ]
  const about = [worker.host, worker.pid, worker.tasks, worker.slots, worker.state, held.length]
  const rows = isLeaving ? await runner.rows(LEAVE, values) : await runner.rows(BEAT, [...values, ...about])
  const extended = new Set(rows.map((row) => row[1]))
  const gone = heartbeat.held.filter(({ runId }) => !extended.has(runId))
  return { now: instantOf(rows[0]![0]!), gone: gone.length === 0 ? [] : await whyGone(runner, gone) }
}

/** Asked afterwards: a cancel that came at the same moment is seen. */
async function whyGone(runner: Runner, gone: Heartbeat["held"]): Promise<HeartbeatAnswer["gone"]> {
  const rows = await runner.rows(SELECT_CANCELLED, [gone.map(({ runId }) => runId)])
  const cancelled = new Set(rows.map(([id, attempt]) => `${attempt} ${id}`))
  return gone.map(({ runId, attempt }) => ({
    runId,
    attempt,
    why: cancelled.has(`${attempt} ${runId}`) ? "cancelled" : "lost",
  }))
}
