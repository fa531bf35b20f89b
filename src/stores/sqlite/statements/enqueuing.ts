import type { NewRun } from "../../../core/run/run.ts"
import type { Instant } from "../../../core/time/instant.ts"
import type { EnqueueAnswer } from "../../../store/store.ts"
import type { Prepared } from "../prepared.ts"
import { NEW_RUN_COLUMNS, newRunValues } from "../rows.ts"

const INSERT_RUN = `
  insert into belfry_runs (${NEW_RUN_COLUMNS.join(", ")}, attempt, failures, lost, details, attempts)
  values (${NEW_RUN_COLUMNS.map(() => "?").join(", ")}, 0, 0, 0, 'null', '[]')
  on conflict (id) do nothing`

export const SELECT_EXISTS = `
  select 1
  from belfry_runs
  where id = ?`

// By belfry_runs_live, which lets at most one run have a key. The write lock is held, so no other process can take the key.
export const SELECT_HOLDER = `
  select id
  from belfry_runs
  where live_key = ?
    and state in ('pending', 'running')`

const COUNT_RUN = `
  update belfry_schedules
  set run_count = run_count + 1,
    last_run_id = ?,
    last_run_at = ?
  where id = ?`

export function enqueueRun(connection: Prepared, run: NewRun, now: Instant): EnqueueAnswer {
  const holder = run.state === "pending" ? holderOf(connection, run.liveKey) : null
  if (holder === null) {
    const isNew = insertRun(connection, run, now)
    if (isNew && run.scheduleId !== null && run.state === "pending") {
      connection.prepare(COUNT_RUN).run(run.id, now, run.scheduleId)
    }
    return { outcome: isNew ? "created" : "exists", runId: run.id }
  }
  // The holder may be this very run, sent again.
  const isStored = holder === run.id || runExists(connection, run.id)
  return isStored ? { outcome: "exists", runId: run.id } : { outcome: "held", runId: holder }
}

/** Returns whether the run is new. A run whose id exists is left unchanged. */
export function insertRun(connection: Prepared, run: NewRun, now: Instant): boolean {
  return connection.prepare(INSERT_RUN).run(...newRunValues(run, now)).changes !== 0
}

export function holderOf(connection: Prepared, liveKey: string | null): string | null {
  if (liveKey === null) return null
  const row = connection.prepare(SELECT_HOLDER).get(liveKey) as { id: string } | undefined
  return row?.id ?? null
}

export function runExists(connection: Prepared, id: string): boolean {
  return connection.prepare(SELECT_EXISTS).get(id) !== undefined
}
