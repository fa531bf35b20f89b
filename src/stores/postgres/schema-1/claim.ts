import { ms } from "../rows.ts"
import { CLAIMED_TYPES, claimedColumns, storyOf } from "../run-rows.ts"
import { engineFunction } from "./engine-function.ts"

/** Another claim is over in a few milliseconds, unless somebody else has locked the run. */
const KEPT_BACK_MS = 100

/**
 * Gives due runs to a worker: looks for them and locks them, shares out the places of their keys where any has one, and takes
 * them. The first row tells about the look, the others are the runs, numbered in the order they are to be given.
 *
 * Two claims at the same moment may both see room for a key. Both then write the same place (`slot`), the unique index lets
 * one through, and the other looks again. Whoever writes several places does so in their order: two claims that waited for
 * each other's would both stand still until the server notices, a second later.
 */
export const CLAIM = engineFunction({
  name: "claim",
  isOfUnknownSize: true,
  takes: "for_worker text, of_tasks text[], leases_ms bigint[], up_to integer",
  returns: `look json, number bigint, ${CLAIMED_TYPES}`,
  declares: `
    this_instant timestamptz;
    places tid[];
    slots integer[];
    numbers bigint[];
    is_limited boolean;
    is_kept_back boolean;
    due_count bigint;
    next_at float8;`,
  // A lock of the whole table is waited for here. The clock is read after that: else a lease could be over when it is given.
  before: `
    lock table belfry.runs in row exclusive mode;
    this_instant := date_trunc('milliseconds', clock_timestamp());
    ${look()}
    ${shareKeys()}
    look := json_build_array(${ms("this_instant")}, due_count, next_at);
    return next;`,
  // Each is found by its place in the table: its row is locked, so it is still there. What was running already is one whose
  // worker fell silent, and its story says so.
  body: `
    update belfry.runs as r
    set state = 'running',
      attempt = r.attempt + 1,
      worker_id = for_worker,
      due_at = r.claimable_at,
      started_at = this_instant,
      claimable_at = this_instant + leases_ms[array_position(of_tasks, r.task)] * interval '1 millisecond',
      progress = null,
      lost = r.lost + (r.state = 'running' and r.confirmed_attempt is not distinct from r.attempt)::integer,
      attempts = case
        when r.state = 'running'
        then belfry.with_attempt(
          r.attempts, r.attempt, r.worker_id, r.due_at, r.started_at, r.claimable_at,
          case when r.confirmed_attempt = r.attempt then 'lost' else 'unconfirmed' end,
          null
        )
        else ${storyOf("r")}
      end,
      outcome = null,
      slot = due.slot
    from unnest(places, slots, numbers) with ordinality as due(place, slot, number, ordinal)
    where r.ctid = due.place
    returning null::json, coalesce(due.number, due.ordinal), ${claimedColumns("r")}`,
})

/**
 * queues    From one priority of a task to the next by runs_due, a seek each: however many runs wait, a task has few
 *           priorities. Running ones are queues of their own: what is due there is what a worker that fell silent held.
 * due       The longest due of each queue, passing over those that others are taking and those whose key is full.
 * next      When the next of them is due.
 */
function look(): string {
  return `
    with recursive queues (state, task, priority) as (
      select s.state, t.task,
        (
          select max(r.priority)
          from belfry.runs as r
          where r.state = s.state
            and r.task = t.task
            and r.claimable_at is not null
        )
      from unnest(of_tasks) as t(task)
      cross join (values ('pending'), ('running')) as s(state)
      union all
      select q.state, q.task,
        (
          select max(r.priority)
          from belfry.runs as r
          where r.state = q.state
            and r.task = q.task
            and r.priority < q.priority
            and r.claimable_at is not null
        )
      from queues as q
      where q.priority is not null
    ),
    due as materialized (
      select found.place, found.running
      from queues as q
      cross join lateral (
        select r.ctid as place, r.priority, r.claimable_at, key.running
        from belfry.runs as r
        cross join lateral (select ${runningOf("r")} as running) as key
        where r.state = q.state
          and r.task = q.task
          and r.priority = q.priority
          and r.claimable_at <= this_instant
          and (key.running is null or key.running < r.concurrency_limit)
        order by r.claimable_at
        limit up_to
        for update of r skip locked
      ) as found
      where q.priority is not null
      order by found.priority desc, found.claimable_at
      limit up_to
    ),
    next as materialized (
      select min(later.at) as at
      from queues as q
      cross join lateral (
        select min(r.claimable_at) as at
        from belfry.runs as r
        where r.state = q.state
          and r.task = q.task
          and r.priority = q.priority
          and r.claimable_at > this_instant
      ) as later
      where q.priority is not null
    )
    select array_agg(due.place), count(due.running) > 0, count(*), (select ${ms("next.at")} from next)
    into places, is_limited, due_count, next_at
    from due;`
}

/**
 * Of several with one key, as many as the key has room for, each in a place of its own. The key's runs are counted again, since
 * this statement sees what was committed after the look: count and places must be of one moment.
 *
 * At most as many places are taken as runs of the key are running. So the first that is free for the n-th is among that many
 * and n more: however high the limit is, the search is no longer.
 *
 * Runs of one key begin in their order. Where another claim is taking an earlier one at this moment, the later one is kept back: if
 * there is room for both, the worker looks again soon.
 */
function shareKeys(): string {
  return `
    if is_limited then
      select array_agg(given.place) filter (where not given.is_kept_back),
        array_agg(given.slot) filter (where not given.is_kept_back),
        array_agg(given.number) filter (where not given.is_kept_back),
        coalesce(bool_or(given.is_kept_back and given.concurrency_limit > 1), false)
      into places, slots, numbers, is_kept_back
      from (
        select d.place, d.number, d.concurrency_limit,
          d.running is not null and d.state = 'pending' and exists (
            select 1
            from belfry.runs as earlier
            where earlier.concurrency_key = d.concurrency_key
              and earlier.state = 'pending'
              and earlier.state in ('pending', 'running')
              and earlier.claimable_at < d.claimable_at
              and earlier.task = d.task
              and earlier.priority = d.priority
              -- One that its own limit holds up is in nobody's way.
              and coalesce(earlier.concurrency_limit > d.running, true)
              and earlier.ctid <> all (places)
          ) as is_kept_back,
          case
            when d.running is null then null
            when d.state = 'running' and d.slot is not null then d.slot
            when d.concurrency_limit = 1 then 0
            else (
              select free.slot
              from generate_series(0, (d.running + d.turn)::integer - 1) as free(slot)
              where not exists (
                select 1
                from belfry.runs as other
                where other.concurrency_key = d.concurrency_key
                  and other.slot = free.slot
                  and other.slot is not null
                  and other.state = 'running'
              )
              order by free.slot
              offset d.turn - 1
              limit 1
            )
          end as slot
        from (
          select due.place, due.number, r.state, r.slot, r.task, r.priority, r.claimable_at, r.concurrency_key, r.concurrency_limit,
            ${runningOf("r")} as running,
            case
              when r.state = 'running' then 1
              else row_number() over (partition by r.concurrency_key, r.state order by due.number)
            end as turn
          from unnest(places) with ordinality as due(place, number)
          join belfry.runs as r on r.ctid = due.place
        ) as d
        where d.running is null
          or d.running + d.turn <= d.concurrency_limit
        order by d.concurrency_key, slot
      ) as given;
      if is_kept_back then
        next_at := least(next_at, ${ms("this_instant")} + ${KEPT_BACK_MS});
      end if;
    end if;`
}

/**
 * How many of its key are running; null where nothing is limited. A run is not in its own way: one whose worker fell silent
 * still counts as running.
 */
function runningOf(r: string): string {
  return `case
            when ${r}.concurrency_limit is not null and ${r}.concurrency_key is not null
            then (
              select count(*)
              from belfry.runs as other
              where other.concurrency_key = ${r}.concurrency_key
                and other.state = 'running'
                and other.state in ('pending', 'running')
                and other.id <> ${r}.id
            )
          end`
}
