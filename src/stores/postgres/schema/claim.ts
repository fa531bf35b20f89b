import { ms } from "../rows.ts"
import { attemptsOf, CLAIMED_TYPES, claimedColumns } from "../run-rows.ts"
import { engineFunction } from "./engine-function.ts"

/** The highest count of attempts or losses that the table allows. One more is still an integer. */
const COUNT_MAX = 2_000_000_000

/**
 * Finds and locks due runs, assigns slots of limited concurrency keys, and claims the runs. The first row is a summary, the
 * others are the runs, numbered in claim order.
 *
 * Two claims may both see a free slot. Both write it, the unique index accepts one, and the other claim retries. Slots are
 * written in order, to avoid deadlocks: the server notices a deadlock only after a second.
 */
export const CLAIM = engineFunction({
  name: "claim",
  hasUnknownLimit: true,
  takes: "for_worker text, of_tasks text[], leases_ms bigint[], up_to integer",
  returns: `summary json, number bigint, ${CLAIMED_TYPES}`,
  declares: `
    waiting constant text := 'pending';
    this_instant timestamptz;
    row_ids tid[];
    slots integer[];
    numbers bigint[];
    is_limited boolean;
    due_count bigint;
    next_at float8;`,
  // The function waits here for a lock of the whole table. The clock is read afterwards, so that no lease starts in the past.
  before: `
    lock table belfry.runs in row exclusive mode;
    this_instant := date_trunc('milliseconds', clock_timestamp());
    ${findDue()}
    ${assignSlots()}
    summary := json_build_array(${ms("this_instant")}, due_count, next_at);
    return next;`,
  // Each row is found by its ctid, which can't change while the row is locked. A run that was already running had a worker that
  // fell silent. Its attempt is recorded as lost or unconfirmed.
  body: `
    update belfry.runs as r
    set state = 'running',
      -- A count that was written by SQL directly, without our checks, must not fail the whole claim.
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
    from unnest(row_ids, slots, numbers) with ordinality as due(row_id, slot, number, ordinal)
    where r.ctid = due.row_id
    returning null::json, coalesce(due.number, due.ordinal), ${claimedColumns("r")}`,
})

/**
 * queues    Goes from one priority of a task to the next by runs_due, one seek each: however many runs are pending, a task has
 *           few priorities. Running runs are separate queues: a due run there had a worker that fell silent.
 * due       The longest due runs of each queue, without runs that other claims have locked and runs that wait for their key.
 * next      When the next run is due.
 */
function findDue(): string {
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
      select found.row_id, found.is_limited
      from queues as q
      cross join lateral (
        select r.ctid as row_id, r.priority, r.claimable_at, ${isLimited("r")} as is_limited
        from belfry.runs as r
        where r.state = q.state
          and r.task = q.task
          and r.priority = q.priority
          and r.claimable_at <= this_instant
          and (r.concurrency_limit is null or r.concurrency_key is null or ${hasRoomInOrder("r")})
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
    select array_agg(due.row_id), bool_or(due.is_limited), count(*), (select ${ms("next.at")} from next)
    into row_ids, is_limited, due_count, next_at
    from due;`
}

/**
 * Of several runs with one key, keeps as many as the key has room for, each with its own slot. The key's running runs are
 * counted again, because this statement sees commits that the first one didn't: the count and the slots must be from one
 * snapshot.
 *
 * At most as many slots are taken as runs of the key are running. So the n-th free slot is among the first `running + n`
 * slots, and the search doesn't depend on the limit.
 */
function assignSlots(): string {
  return `
    if is_limited then
      select array_agg(assigned.row_id), array_agg(assigned.slot), array_agg(assigned.number)
      into row_ids, slots, numbers
      from (
        select d.row_id, d.number,
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
          select due.row_id, due.number, r.state, r.slot, r.concurrency_key, r.concurrency_limit,
            case when ${isLimited("r")} then (${runningOf("r")}) end as running,
            case
              when r.state = 'running' then 1
              else row_number() over (partition by r.concurrency_key, r.state order by due.number)
            end as turn
          from unnest(row_ids) with ordinality as due(row_id, number)
          join belfry.runs as r on r.ctid = due.row_id
        ) as d
        where d.running is null
          or d.running + d.turn <= d.concurrency_limit
        order by d.concurrency_key, slot
      ) as assigned;
    end if;`
}

function isLimited(r: string): string {
  return `${r}.concurrency_limit is not null and ${r}.concurrency_key is not null`
}

/** How many runs of the key are running. A run doesn't count against its own key: the run of a silent worker is still running. */
function runningOf(r: string): string {
  return `select count(*) as running
              from belfry.runs as other
              where other.concurrency_key = ${r}.concurrency_key
                and other.state = 'running'
                and other.state in ('pending', 'running')
                and other.id <> ${r}.id`
}

/**
 * Whether the key has room for the run and for the runs with its key that are due before it. So runs of one key begin in order:
 * while another claim takes the first run, the second isn't claimed instead. Earlier runs don't count if their own limit is
 * reached or if this worker doesn't offer their task. No more runs are counted than a claim takes.
 *
 * No index but runs_key can serve this subquery: a variable and a comparison of rows don't prove the conditions of the other
 * partial indexes. A plan that was made while few runs were pending took runs_pending, and then read all pending runs for each
 * run: of 1,000 runs, 90 µs for each.
 */
function hasRoomInOrder(r: string): string {
  return `(
            select key.running < ${r}.concurrency_limit
              and (
                ${r}.state = 'running'
                or least(${r}.concurrency_limit - key.running, up_to) > (
                  select count(*)
                  from (
                    select 1
                    from belfry.runs as earlier
                    where earlier.concurrency_key = ${r}.concurrency_key
                      and earlier.state = waiting
                      and earlier.state in ('pending', 'running')
                      and (earlier.claimable_at, earlier.id) < (${r}.claimable_at, ${r}.id)
                      and earlier.task = any (of_tasks)
                      and earlier.priority = ${r}.priority
                      and coalesce(earlier.concurrency_limit > key.running, true)
                    limit least(${r}.concurrency_limit - key.running, up_to)
                  ) as counted
                )
              )
            from (${runningOf(r)}) as key
          )`
}
