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
 * going     What happens, and how many runs that makes. The plan says how many it has; what exists already is taken off. StatisticsBuffer them
 *           here would need a join for which the planner expects one plan: of 250 it took 320 µs each, and now takes 90.
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
    select n.id, n.plan, n.state
    from new_runs as n
    join belfry.runs as r on r.id = n.id
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
    select standing.*,
      standing.run_count - (
        select count(*)
        from known
        where known.plan = standing.plan
          and known.state = 'pending'
      ) as fresh_count
    from standing
    where standing.plan not in (select held.plan from held)
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
      runs_fired = s.runs_fired + going.fresh_count,
      last_fired_id = case
        when going.fresh_count = 0 then s.last_fired_id
        when going.fresh_count = going.run_count then going.last_run_id
        else (
          select n.id
          from new_runs as n
          where n.plan = going.plan
            and n.state = 'pending'
            and n.id not in (select known.id from known)
          order by n.place desc
          limit 1
        )
      end,
      last_fired_at = case when going.fresh_count > 0 then clock.now else s.last_fired_at end,
      unsettled = null
    from going
    cross join clock
    where s.id = going.id
      and not going.is_removed
  ),
  removed as (
    delete from belfry.schedules as s
    using going
    where s.id = going.id
      and going.is_removed
    -- For the trigger that keeps deletions by hand in the journal.
    returning set_config('belfry_engine.deleted', concat(current_setting('belfry_engine.deleted', true), ' ', s.id, ' '), true)
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
