import { listTypes, rowsOfLists } from "../lists.ts"
import { CLOCK } from "../rows.ts"
import { NEW_RUN_COLUMNS, newRunRows, newRunTypes, newRunValues } from "../run-lists.ts"
import { FIRE_PLAN } from "../schedule-rows.ts"
import { engineFunction } from "./engine-function.ts"

/** The plan of a run. */
const PLAN = ["plan", "bigint", () => null] as const

/**
 * Advances schedules and creates their runs in one statement: a plan is applied as a whole or not at all.
 *
 * current   The plans whose schedules still have the expected version. A schedule that another process has locked is being
 *           changed, so its plan is not current.
 * known     Runs that exist already. They stay unchanged.
 * held      Plans with a new run whose live key is held by another run.
 * applied   The plans that are applied, and how many runs each creates: the plan's own count minus its known runs. Counting
 *           the new runs here would need a join for which the planner expects one plan: for 250 plans, 320 µs
 *           each instead of 90.
 *
 * Ids and live keys are read as of the statement's beginning. If one was taken since, the unique index refuses the run, and the
 * plans are sent again, one by one. That is rare, and checking before each insert takes longer.
 */
export const FIRE = engineFunction({
  name: "fire",
  waitsForLocks: false,
  takes: `${listTypes(FIRE_PLAN)}, ${newRunTypes([PLAN])}`,
  returns: "plan bigint, is_applied boolean, is_current boolean, created json, is_sooner boolean",
  body: `
  with ${CLOCK},
  plans as (
    select p.*, p.place as plan
    from (${rowsOfLists(FIRE_PLAN, 1)}) as p
  ),
  new_runs as (
    select * from ${newRunRows(FIRE_PLAN.length + 1, [PLAN])}
  ),
  current as (
    select plans.*, s.next_run_at as old_next_run_at
    from belfry.schedules as s
    join plans on plans.id = s.id and plans.if_version = s.version
    -- Rows are locked in the order of their ids, so that two calls cannot deadlock.
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
    where n.state = 'pending'
      and n.id not in (select known.id from known)
      -- Not a join: planned while few keys were held, a join reads all held keys for each new run.
      and (
        select true
        from belfry.runs as r
        where r.live_key = n.live_key
          and r.state in ('pending', 'running')
          and r.id <> n.id
        limit 1
      )
  ),
  applied as (
    select current.*,
      current.run_count - (
        select count(*)
        from known
        where known.plan = current.plan
          and known.state = 'pending'
      ) as new_run_count
    from current
    where current.plan not in (select held.plan from held)
  ),
  advanced as (
    update belfry.schedules as s
    set version = nextval('belfry.versions'),
      next_run_at = to_timestamp(applied.next_run_at / 1000.0),
      covered_until = to_timestamp(applied.covered_until / 1000.0),
      overrides = applied.overrides::jsonb,
      paused = applied.paused::jsonb,
      fired_count = applied.fired_count,
      last_error = applied.last_error,
      finished_at = to_timestamp(applied.finished_at / 1000.0),
      runs_fired = s.runs_fired + applied.new_run_count,
      last_fired_id = case
        when applied.new_run_count = 0 then s.last_fired_id
        when applied.new_run_count = applied.run_count then applied.last_run_id
        else (
          select n.id
          from new_runs as n
          where n.plan = applied.plan
            and n.state = 'pending'
            and n.id not in (select known.id from known)
          order by n.place desc
          limit 1
        )
      end,
      last_fired_at = case when applied.new_run_count > 0 then clock.now else s.last_fired_at end,
      unsettled = null
    from applied
    cross join clock
    where s.id = applied.id
      and not applied.is_removed
  ),
  removed as (
    delete from belfry.schedules as s
    using applied
    where s.id = applied.id
      and applied.is_removed
    -- For the trigger journal_deletion, which records only deletions by SQL.
    returning set_config('belfry_engine.deleted', concat(current_setting('belfry_engine.deleted', true), ' ', s.id, ' '), true)
  ),
  created as (
    insert into belfry.runs (${NEW_RUN_COLUMNS})
    select ${newRunValues("clock.now")}
    from new_runs as n
    cross join clock
    where n.plan in (select applied.plan from applied)
      and n.id not in (select known.id from known)
    order by n.place
    returning id
  ),
  created_by_plan as (
    select n.plan, json_agg(n.id) as ids
    from new_runs as n
    join created using (id)
    group by n.plan
  )
  select plans.plan,
    applied.plan is not null,
    current.plan is not null,
    created_by_plan.ids,
    -- An ordinary fire needs no hint: listeners have read the schedule's next run. A fire that makes it due sooner needs one.
    to_timestamp(applied.next_run_at / 1000.0) < coalesce(applied.old_next_run_at, 'infinity')
  from plans
  left join applied on applied.plan = plans.plan
  left join current on current.plan = plans.plan
  left join created_by_plan on created_by_plan.plan = plans.plan
  order by plans.plan`,
})
