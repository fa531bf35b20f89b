import type { Pruned, PruneRequest } from "../../../store/store.ts"
import type { Runner } from "../database.ts"
import { CLOCK, instantOf, ms } from "../rows.ts"

/**
 * Looks at the next few finished runs by runs_completed, from a place on, and deletes those that needn't stay, each with its
 * log. The newest of its schedule are counted by runs_schedule_completed, as far as is needed to know.
 */
export const PRUNE_RUNS = `
  with ${CLOCK},
  page as materialized (
    select r.id,
      r.completed_at,
      r.schedule_id is not null
      and (
        select count(*)
        from (
          select 1
          from belfry.runs as newer
          where newer.schedule_id = r.schedule_id
            and newer.completed_at is not null
            and newer.completed_at >= r.completed_at
            and (newer.completed_at, newer.id) > (r.completed_at, r.id)
          limit $3
        ) as those
      ) < $3 as is_kept
    from belfry.runs as r, clock
    where r.completed_at >= to_timestamp($4::bigint / 1000.0)
      and (r.completed_at, r.id) > (to_timestamp($4::bigint / 1000.0), $5)
      and r.completed_at < clock.now - $1::bigint * interval '1 millisecond'
    order by r.completed_at, r.id
    limit $6
  ),
  doomed as (
    select r.id
    from page
    join belfry.runs as r on r.id = page.id
    where not page.is_kept
    order by page.completed_at, page.id
    limit $2
    -- Whoever holds one has something to do with it; there is a next time.
    for update of r skip locked
  ),
  gone as (
    delete from belfry.runs as r
    using doomed
    where r.id = doomed.id
      and r.completed_at is not null
    returning r.id
  ),
  lines as (
    delete from belfry.logs as l
    using gone
    where l.run_id = gone.id
  )
  select (select count(*) from gone), page.id, ${ms("page.completed_at")}
  from (select 1) as always
  left join page on true
  order by page.completed_at, page.id`

export const PRUNE_WORKERS = `
  with ${CLOCK}
  delete from belfry.workers
  where id in (
    select w.id
    from belfry.workers as w, clock
    where w.heartbeat_at < clock.now - $1::bigint * interval '1 millisecond'
    order by w.id
    limit $2
  )
  returning id`

/** How many runs are looked at in one statement: some milliseconds. */
const BITE = 500

export async function prune(runner: Runner, request: PruneRequest): Promise<Pruned> {
  const { olderThanMs, keepPerSchedule, silentForMs, limit } = request
  let runs = 0
  let place = { at: FROM_THE_OLDEST, id: "" }
  while (runs < limit) {
    const values = [olderThanMs, limit - runs, keepPerSchedule, place.at, place.id, BITE]
    const rows = await runner.rows(PRUNE_RUNS, values)
    runs += Number(rows[0]![0])
    const last = rows.at(-1)!
    if (rows.length < BITE || last[1] === null) break
    place = { at: instantOf(last[2]!), id: last[1]! }
  }
  const workers = await runner.rows(PRUNE_WORKERS, [silentForMs, limit])
  return { runs, workers: workers.length }
}

/** Year 1: before anything that was completed. */
const FROM_THE_OLDEST = -62_135_596_800_000
