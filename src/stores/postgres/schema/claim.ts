import { ms } from "../rows.ts"
import { attemptsOf, CLAIMED_TYPES, claimedColumns } from "../run-rows.ts"
import { engineFunction } from "./engine-function.ts"

/** More than any run has attempts: one more is still an integer, and the table allows no more. */
const COUNT_MAX = 2_000_000_000

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
      -- A count that was written past our door must not end the claim of all others.
      attempt = least(r.attempt, ${COUNT_MAX - 1}) + 1,
      worker_id = for_worker,
      due_at = r.claimable_at,
      started_at = this_instant,
      claimable_at = this_instant + leases_ms[array_position(of_tasks, r.task)] * interval '1 millisecond',
      progress = null,
      lost = least(r.lost, ${COUNT_MAX - 1}) + (r.state = 'running' and r.confirmed_attempt is not distinct from r.attempt)::integer,
      attempts = case
        when r.state = 'running'
        then belfry.with_attempt(
          r.attempts, r.attempt, r.worker_id, r.due_at, r.started_at, r.claimable_at,
          case when r.confirmed_attempt = r.attempt then 'lost' else 'unconfirmed' end,
          null
        )
        else ${attemptsOf("r")}
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
 * due       The longest due of each queue, passing over those that others are taking and those that wait for their key.
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
          and (key.running is null or ${isAmongFirst("r", "key.running")})
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
 */
function shareKeys(): string {
  return `
    if is_limited then
      select array_agg(given.place), array_agg(given.slot), array_agg(given.number)
      into places, slots, numbers
      from (
        select d.place, d.number,
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
          select due.place, due.number, r.state, r.slot, r.concurrency_key, r.concurrency_limit, ${runningOf("r")} as running,
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

/**
 * Whether its key has room for it, and for those with its key that are due before it. So runs of one key begin in their order: while
 * another claim takes the first, the next one isn't taken instead. One whose own limit holds it up is in nobody's way; nor is one of a
 * task that this worker doesn't offer. More than a claim takes needn't be counted.
 */
function isAmongFirst(r: string, running: string): string {
  return `(
            ${running} < ${r}.concurrency_limit
            and (
              ${r}.state = 'running'
              or least(${r}.concurrency_limit - ${running}, up_to) > (
                select count(*)
                from (
                  select 1
                  from belfry.runs as earlier
                  where earlier.concurrency_key = ${r}.concurrency_key
                    and earlier.state = 'pending'
                    and earlier.state in ('pending', 'running')
                    and earlier.claimable_at < ${r}.claimable_at
                    and earlier.task = any (of_tasks)
                    and earlier.priority = ${r}.priority
                    and coalesce(earlier.concurrency_limit > ${running}, true)
                  limit least(${r}.concurrency_limit - ${running}, up_to)
                ) as before_it
              )
            )
          )`
}
