import { listTypes, rowsOfLists } from "../lists.ts"
import { CLOCK } from "../rows.ts"
import { NEW_RUN_COLUMNS, newRunRows, newRunTypes, newRunValues } from "../run-lists.ts"
import { FIRE_PLAN } from "../schedule-rows.ts"
import { engineFunction } from "./engine-function.ts"

/** Which plan a run is of. */
const PLAN = ["plan", "bigint", () => null] as const

/**
 * Advances schedules and creates their runs, in one statement: a plan happens whole or not at all.
 *
 * standing  The schedules that are still where the plan left them, locked in one order. One that another process has locked
 *           is being moved.
 * known     Runs that exist already; they stay as they are.
 * held      Plans of which a new run needs a live key that another run has.
 * going     What happens.
 * fresh     How many runs that makes, and the last of them.
 *
 * What is read about ids and live keys is of the statement's beginning. If one was taken since, its index refuses the run, and
 * the plans are sent again, one by one. That is rare, and to look before each run whether it would be refused takes longer.
 */
export const FIRE = engineFunction({
  name: "fire",
  isPatient: false,
  takes: `${listTypes(FIRE_PLAN)}, ${newRunTypes([PLAN])}`,
  returns: "plan bigint, is_going boolean, is_standing boolean, created json, is_sooner boolean",
  body: `
  with ${CLOCK},
  plans as (
    select p.*, p.place as plan
    from (${rowsOfLists(FIRE_PLAN, 1)}) as p
  ),
  new_runs as (
    select * from ${newRunRows(FIRE_PLAN.length + 1, [PLAN])}
  ),
  standing as (
    select plans.*, s.next_run_at as stood_at
    from belfry.schedules as s
    join plans on plans.id = s.id and plans.if_version = s.version
    order by s.id
    for no key update of s skip locked
  ),
  known as (
    select r.id
    from belfry.runs as r
    where r.id = any ($${FIRE_PLAN.length + 1}::text[])
  ),
  held as (
    select n.plan
    from new_runs as n
    join belfry.runs as r
      on r.live_key = n.live_key
      and r.state in ('pending', 'running')
      and r.id <> n.id
    where n.state = 'pending'
      and n.id not in (select known.id from known)
  ),
  going as (
    select standing.*
    from standing
    where standing.plan not in (select held.plan from held)
  ),
  fresh as (
    select n.plan, count(*) as count, (array_agg(n.id order by n.place desc))[1] as last_id
    from new_runs as n
    where n.state = 'pending'
      and n.id not in (select known.id from known)
    group by n.plan
  ),
  moved as (
    update belfry.schedules as s
    set version = nextval('belfry.versions'),
      next_run_at = to_timestamp(going.next_run_at / 1000.0),
      covered_until = to_timestamp(going.covered_until / 1000.0),
      overrides = going.overrides::jsonb,
      paused = going.paused::jsonb,
      fired_count = going.fired_count,
      last_error = going.last_error,
      finished_at = to_timestamp(going.finished_at / 1000.0),
      run_count = s.run_count + coalesce(fresh.count, 0),
      last_run_id = coalesce(fresh.last_id, s.last_run_id),
      last_run_at = case when fresh.count > 0 then clock.now else s.last_run_at end,
      unsettled = null
    from going
    cross join clock
    left join fresh on fresh.plan = going.plan
    where s.id = going.id
      and not going.is_removed
  ),
  removed as (
    delete from belfry.schedules as s
    using going
    where s.id = going.id
      and going.is_removed
  ),
  created as (
    insert into belfry.runs (${NEW_RUN_COLUMNS})
    select ${newRunValues("clock.now")}
    from new_runs as n
    cross join clock
    where n.plan in (select going.plan from going)
      and n.id not in (select known.id from known)
    order by n.place
    returning id
  ),
  made as (
    select n.plan, json_agg(n.id) as ids
    from new_runs as n
    join created using (id)
    group by n.plan
  )
  select plans.plan,
    going.plan is not null,
    standing.plan is not null,
    made.ids,
    -- Going on as expected is no news: everyone who would listen has read the schedule. Coming forward is.
    to_timestamp(going.next_run_at / 1000.0) < coalesce(going.stood_at, 'infinity')
  from plans
  left join going on going.plan = plans.plan
  left join standing on standing.plan = plans.plan
  left join made on made.plan = plans.plan
  order by plans.plan`,
})
