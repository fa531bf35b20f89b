import { AN_INSTANT } from "./plan-cases.ts"

/** The data on which the store's statements are explained: 20,000 schedules and 50,000 runs. First what an idle system has. */

const SCHEDULES = 20_000
const DUE = 300

export const FILL_IDLE = `
  insert into belfry.schedules (id, task, cron, owner, next_run_at, covered_until, version)
  select 's' || n, 'report', '0 3 * * *', case when n % 200 = 0 then 'app' else 'other' end,
    clock_timestamp() + '1 hour' + n * interval '1 second', clock_timestamp(), nextval('belfry.versions')
  from generate_series(${DUE} + 1, ${SCHEDULES}) as n;

  insert into belfry.journal (id, at, action, subject, subject_id, by_name)
  select 'e' || n, clock_timestamp() - n * interval '1 minute', 'paused', 'schedule', 's' || n % 5000, 'ann'
  from generate_series(1, 20000) as n;
  insert into belfry.statistics (subject, span_ms, at, expires_at, counters)
  select 'schedule:s' || n, 3600000, date_trunc('hour', clock_timestamp()) - h * interval '1 hour', clock_timestamp() + interval '1 day', '{"succeeded": 1}'
  from generate_series(1, 2000) as n, generate_series(0, 9) as h;

  -- Finished runs: one schedule with 20,000, many with one or two. Some of them failed.
  insert into belfry.runs (id, task, schedule_id, concurrency_key, scheduled_for, triggered_by, state, attempt, created_at,
    started_at, completed_at)
  select 'past' || n, 'report', s.id, 'schedule:' || s.id, at, 'schedule',
    case when n % 100 = 0 then 'failed' else 'succeeded' end, 1, at, at, at
  from generate_series(1, 44000) as n,
    lateral (select case when n <= 20000 then 's1' else 's' || n % ${SCHEDULES} + 1 end as id) as s,
    lateral (select date_trunc('milliseconds', clock_timestamp()) - n * interval '1 minute' as at) as t;

  -- A schedule with all its runs for one instant, as after many repeated backfills.
  insert into belfry.runs (id, task, schedule_id, concurrency_key, scheduled_for, triggered_by, state, attempt, created_at,
    started_at, completed_at)
  select 'once' || n, 'report', 'often', 'schedule:often', to_timestamp(${AN_INSTANT} / 1000), 'backfill', 'succeeded', 1, at, at, at
  from generate_series(1, 2000) as n,
    lateral (select date_trunc('milliseconds', clock_timestamp()) - interval '1 year' + n * interval '1 second' as at) as t;

  -- A task with few runs.
  insert into belfry.runs (id, task, triggered_by, state, attempt, created_at, started_at, completed_at)
  select 'rare' || n, 'rare', 'api', 'succeeded', 1, at, at, at
  from generate_series(1, 20) as n,
    lateral (select date_trunc('milliseconds', clock_timestamp()) - n * interval '1 day' as at) as t;

  insert into belfry.logs (run_id, attempt, number, at, level, message)
  select 'past' || n % 100 + 1, 1, n, clock_timestamp(), 'info', 'A line'
  from generate_series(1, 20000) as n;`

/** Due schedules and unfinished runs. */
export const FILL_BUSY = `
  insert into belfry.schedules (id, task, cron, owner, next_run_at, covered_until, version)
  select 's' || n, 'report', '0 3 * * *', case when n % 200 = 0 then 'app' else 'other' end,
    clock_timestamp() - interval '1 minute', clock_timestamp(), nextval('belfry.versions')
  from generate_series(1, ${DUE}) as n;

  insert into belfry.runs (id, task, triggered_by, state, claimable_at)
  select 'rarely' || n, 'rare', 'api', 'pending', clock_timestamp() + interval '1 day'
  from generate_series(1, 20) as n;

  -- Pending runs, later and due: of four priorities, and of a key at its limit.
  insert into belfry.runs (id, task, triggered_by, state, priority, claimable_at)
  select 'later' || n, 'report', 'api', 'pending', n % 4, clock_timestamp() + interval '1 hour' + n * interval '1 minute'
  from generate_series(1, 3000) as n;
  insert into belfry.runs (id, task, triggered_by, state, priority, claimable_at, concurrency_key, concurrency_limit)
  select 'due' || n, 'report', 'api', 'pending', n % 4, clock_timestamp() - n * interval '1 second',
    'key' || n % 200, 10
  from generate_series(1, 2000) as n;
  insert into belfry.runs (id, task, triggered_by, state, claimable_at, concurrency_key, concurrency_limit, live_key)
  select 'waiting' || n, 'report', 'api', 'pending', clock_timestamp() - interval '1 day', 'full', 1, 'live' || n
  from generate_series(1, 100) as n;

  -- Running runs.
  insert into belfry.runs (id, task, triggered_by, state, attempt, claimable_at, concurrency_key, concurrency_limit, slot,
    worker_id, started_at)
  select 'running' || n, 'report', 'api', 'running', 1, clock_timestamp() + interval '1 hour',
    case when n = 1 then 'full' end, case when n = 1 then 1 end, case when n = 1 then 0 end, 'w', clock_timestamp()
  from generate_series(1, 900) as n;`
