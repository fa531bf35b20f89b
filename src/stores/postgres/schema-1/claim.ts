import { CLAIMED_TYPES, CLOCK, claimedColumns, claimedNames, ms, storyOf } from "../rows.ts"
import { engineFunction } from "./engine-function.ts"

/**
 * Gives due runs to a worker, in one statement.
 *
 * queues    From one priority of a task to the next by runs_due, a seek each: however many runs wait, a task has few
 *           priorities.
 * due       The longest due of each queue, passing over those that others are taking and those whose key is full.
 * next      When the next of them is due.
 * placed    Of several with one key, as many as the key has room for.
 * taken     Each becomes running, found by its place in the table: its row is locked, so it is still there. What was running already is one whose worker fell silent, and its story says so.
 *
 * Two claims at the same moment may both see room for a key. Both then write the same place (`slot`), the unique index lets
 * one through, and the other looks again.
 */
export const CLAIM = engineFunction({
  name: "claim",
  isOfUnknownSize: true,
  takes: "for_worker text, of_tasks text[], leases_ms bigint[], up_to integer",
  returns: `claimed_at float8, found bigint, next_at float8, ${CLAIMED_TYPES}`,
  body: `
  with recursive ${CLOCK},
  wanted as (
    select * from unnest($2::text[], $3::bigint[]) as w(task, lease_ms)
  ),
  queues (task, priority) as (
    select wanted.task,
      (
        select max(r.priority)
        from belfry.runs as r
        where r.task = wanted.task
          and r.claimable_at is not null
      )
    from wanted
    union all
    select queues.task,
      (
        select max(r.priority)
        from belfry.runs as r
        where r.task = queues.task
          and r.priority < queues.priority
          and r.claimable_at is not null
      )
    from queues
    where queues.priority is not null
  ),
  due as (
    select found.*
    from queues
    cross join clock
    cross join lateral (
      select r.ctid as place_in_table, r.state, r.priority, r.claimable_at, r.concurrency_key, r.concurrency_limit, key.running
      from belfry.runs as r
      -- Null where nothing is limited. A run is not in its own way: one whose worker fell silent still counts as running.
      cross join lateral (
        select case
          when r.concurrency_limit is not null and r.concurrency_key is not null
          then (
            select count(*)
            from belfry.runs as other
            where other.concurrency_key = r.concurrency_key
              and other.state = 'running'
              and other.state in ('pending', 'running')
              and other.id <> r.id
          )
        end as running
      ) as key
      where r.task = queues.task
        and r.priority = queues.priority
        and r.claimable_at <= clock.now
        and (key.running is null or key.running < r.concurrency_limit)
      order by r.claimable_at
      limit $4
      for update of r skip locked
    ) as found
    where queues.priority is not null
    order by found.priority desc, found.claimable_at
    limit $4
  ),
  next as materialized (
    select min(later.at) as at
    from queues
    cross join clock
    cross join lateral (
      select min(r.claimable_at) as at
      from belfry.runs as r
      where r.task = queues.task
        and r.priority = queues.priority
        and r.claimable_at > clock.now
    ) as later
    where queues.priority is not null
  ),
  placed as (
    select due.*,
      case
        when due.state = 'running' then 1
        else row_number() over (
          partition by due.concurrency_key, due.state
          order by due.priority desc, due.claimable_at
        )
      end as place
    from due
  ),
  taken (due_priority, due_at, ${claimedNames()}) as (
    update belfry.runs as r
    set state = 'running',
      attempt = r.attempt + 1,
      worker_id = $1,
      started_at = clock.now,
      claimable_at = clock.now + wanted.lease_ms * interval '1 millisecond',
      progress = null,
      lost = r.lost + (r.state = 'running')::integer,
      attempts = case
        when r.state = 'running'
        then belfry.with_attempt(r.attempts, r.attempt, r.worker_id, r.started_at, r.claimable_at, 'lost', null)
        else ${storyOf("r")}
      end,
      outcome = null,
      slot = case
        when placed.running is null then null
        when r.state = 'running' and r.slot is not null then r.slot
        when r.concurrency_limit = 1 then 0
        else (
          select free.slot
          from generate_series(0, r.concurrency_limit - 1) as free(slot)
          where not exists (
            select 1
            from belfry.runs as other
            where other.concurrency_key = r.concurrency_key
              and other.slot = free.slot
              and other.slot is not null
              and other.state = 'running'
          )
          order by free.slot
          offset placed.place - 1
          limit 1
        )
      end
    from placed, clock, wanted
    where r.ctid = placed.place_in_table
      and wanted.task = r.task
      and (placed.running is null or placed.running + placed.place <= placed.concurrency_limit)
    returning placed.priority, placed.claimable_at, ${claimedColumns("r")}
  )
  select ${ms("clock.now")}, (select count(*) from due), (select ${ms("next.at")} from next), ${claimedNames("taken.")}
  from clock
  left join taken on true
  order by taken.due_priority desc, taken.due_at`,
})
