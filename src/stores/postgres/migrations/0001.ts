/** Made by scripts/freeze-migration.ts from ../schema/. Never edited by hand, and never again after its release. */
export const MIGRATION_1 = `
  -- What schedules' versions are taken from: a number never comes back, also after a schedule was deleted and made again.
  create sequence belfry.versions;
  -- To which process the due schedules of a share were given, and until when nobody else is given them: see due(). Not logged:
  -- it changes with each read and is worth nothing after a crash.
  create unlogged table belfry.shares (
    share integer primary key,
    given_to bigint not null,
    given_until timestamptz not null
  );

  -- Parts of constraints. Their names mean PostgreSQL's own, whoever writes a row.
  create function belfry.is_instant_ms(at jsonb) returns boolean language sql immutable set search_path = pg_catalog, pg_temp as $$
    select coalesce(at between '-62135596800000' and '253402300799999', false)
  $$;
  create function belfry.is_text_or_null(value jsonb) returns boolean language sql immutable set search_path = pg_catalog, pg_temp as $$
    select coalesce(jsonb_typeof(value) in ('string', 'null'), true)
  $$;
  create function belfry.are_overrides(overrides jsonb) returns boolean language sql immutable set search_path = pg_catalog, pg_temp as $$
    select case
      when jsonb_typeof(overrides) <> 'array' then false
      when jsonb_array_length(overrides) > 200 then false
      else (
        select bool_and(
          belfry.is_instant_ms(o -> 'scheduledFor')
          and (coalesce(o -> 'dueAt', 'null') = 'null' or belfry.is_instant_ms(o -> 'dueAt'))
          and coalesce(jsonb_typeof(o -> 'isNext'), 'boolean') = 'boolean'
          and belfry.is_text_or_null(o -> 'reason')
          and belfry.is_text_or_null(o -> 'by')
        )
        from jsonb_array_elements(overrides) as o
      )
    end
  $$;
  create function belfry.is_pause(pause jsonb) returns boolean language sql immutable set search_path = pg_catalog, pg_temp as $$
    select jsonb_typeof(pause) = 'object'
      and belfry.is_instant_ms(pause -> 'at')
      and (coalesce(pause -> 'until', 'null') = 'null' or belfry.is_instant_ms(pause -> 'until'))
      and belfry.is_text_or_null(pause -> 'reason')
      and belfry.is_text_or_null(pause -> 'by')
  $$;

  create table belfry.schedules (
    id text collate "C" primary key,
    -- What an integrator writes.
    task text collate "C" not null,
    function text,
    description text not null default '',
    cron text,
    timezone text not null default 'UTC',
    payload jsonb,
    enabled boolean not null default true,
    priority integer not null default 0,
    tags text[] not null default '{}',
    owner text collate "C",
    -- Intervals, single instants and further crons; and the policies, in the words of schedules.create, whoever wrote them:
    -- what isn't named has its default.
    triggers jsonb not null default '[]',
    options jsonb not null default '{}',
    -- How far it has come. Belfry writes this. Whoever writes a next_run_at asks for the next occurrence then, or with null
    -- for a plan from now on.
    next_run_at timestamptz,
    covered_until timestamptz,
    overrides jsonb not null default '[]',
    paused jsonb,
    -- Runs of its occurrences, which is what maxRuns is about.
    fired_count bigint not null default 0,
    last_error text,
    finished_at timestamptz,
    -- Runs of it that fires created, and the last of them. All runs, with those by hand: see schedule_status.
    runs_fired bigint not null default 0,
    last_fired_id text,
    last_fired_at timestamptz,
    -- What was written by hand since Belfry last planned it, oldest first; null if nothing was. Each is what the columns
    -- were before, when, and by whom: the next plan does what that asks for, and then this is null again.
    unsettled jsonb,
    declared_as text,
    release bigint not null default 0,
    revision integer not null default 1,
    -- 0 until it is taken from the sequence, which a row that was written by hand leaves to a trigger.
    version bigint not null default 0,
    created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    updated_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    -- What a row can never be, whoever writes it. The words of crons, zones and options are for a plan to understand: what it
    -- can't is in last_error.
    constraint schedules_id_is_1_to_200_letters_digits_and_dashes check (id ~ '^[A-Za-z0-9_-]{1,200}$'),
    constraint schedules_task_is_1_to_200_characters check (char_length(task) between 1 and 200),
    constraint schedules_function_is_1_to_200_characters check (char_length(function) between 1 and 200),
    constraint schedules_description_is_at_most_10000_characters check (char_length(description) <= 10000),
    constraint schedules_cron_is_at_most_1000_characters check (char_length(cron) <= 1000),
    constraint schedules_timezone_is_1_to_100_characters check (char_length(timezone) between 1 and 100),
    constraint schedules_priority_is_within_a_million check (priority between -1000000 and 1000000),
    constraint schedules_tags_are_at_most_1000_texts check (cardinality(tags) <= 1000 and array_position(tags, null) is null),
    constraint schedules_owner_is_at_most_500_characters check (char_length(owner) <= 500),
    constraint schedules_triggers_is_a_list_of_at_most_32 check (
      case when jsonb_typeof(triggers) = 'array' then jsonb_array_length(triggers) <= 32 else false end
    ),
    constraint schedules_options_is_an_object check (jsonb_typeof(options) = 'object'),
    constraint schedules_overrides_is_a_list_of_instants check (overrides = '[]' or belfry.are_overrides(overrides)),
    constraint schedules_paused_has_instants check (paused is null or belfry.is_pause(paused)),
    constraint schedules_unsettled_is_a_list check (jsonb_typeof(unsettled) = 'array'),
    constraint schedules_instants_are_of_the_years_1_to_9999 check (
      next_run_at >= '0001-01-01 00:00:00+00' and next_run_at < '10000-01-01 00:00:00+00'
      and covered_until >= '0001-01-01 00:00:00+00' and covered_until < '10000-01-01 00:00:00+00'
      and created_at >= '0001-01-01 00:00:00+00' and created_at < '10000-01-01 00:00:00+00'
      and updated_at >= '0001-01-01 00:00:00+00' and updated_at < '10000-01-01 00:00:00+00'
      and last_fired_at >= '0001-01-01 00:00:00+00' and last_fired_at < '10000-01-01 00:00:00+00'
      and finished_at >= '0001-01-01 00:00:00+00' and finished_at < '10000-01-01 00:00:00+00'
    ),
    constraint schedules_counts_are_whole_in_javascript check (
      version between 0 and 9007199254740991 and runs_fired between 0 and 9007199254740991
      and fired_count between 0 and 9007199254740991 and release between 0 and 9007199254740991
    )
  );
  -- Each fire changes next_run_at, and so writes to every index: lists by task or tag, which are rare, go without.
  create index schedules_due on belfry.schedules (next_run_at) where next_run_at is not null;
  create index schedules_owner on belfry.schedules (owner, id) where owner is not null;

  -- What is never null and of one size stands first, then what indexes need: the server compares those at each step, and
  -- finds a column behind others by walking over them.
  create table belfry.runs (
    created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    priority integer not null default 0,
    attempt integer not null default 0,
    failures integer not null default 0,
    lost integer not null default 0,
    id text collate "C" primary key,
    task text collate "C" not null,
    state text not null,
    claimable_at timestamptz,
    completed_at timestamptz,
    schedule_id text collate "C",
    scheduled_for timestamptz,
    live_key text collate "C",
    concurrency_key text collate "C",
    concurrency_limit integer,
    -- Which of its key's places a running run has: what makes the limit hold among those who claim at the same moment.
    slot integer,
    payload jsonb,
    triggered_by text not null,
    trigger text,
    missed jsonb,
    retry jsonb,
    timeout_ms bigint,
    reason text,
    by_name text,
    worker_id text,
    -- What claimable_at was when the newest attempt began.
    due_at timestamptz,
    started_at timestamptz,
    message text,
    details jsonb,
    error text,
    progress jsonb,
    -- The newest attempt that a heartbeat has confirmed.
    confirmed_attempt integer,
    -- How the newest attempt ended, and when; null while it goes on. The older ones are in attempts: so a run that
    -- succeeds at once has no story to write.
    outcome text,
    ended_at timestamptz,
    attempts jsonb,
    constraint runs_id_is_1_to_600_characters check (char_length(id) between 1 and 600),
    constraint runs_task_is_1_to_200_characters check (char_length(task) between 1 and 200),
    constraint runs_priority_is_within_a_million check (priority between -1000000 and 1000000),
    constraint runs_state_is_one_of_six check (
      state in ('pending', 'running', 'succeeded', 'failed', 'cancelled', 'skipped')
    ),
    constraint runs_concurrency_limit_is_at_least_1 check (concurrency_limit >= 1),
    constraint runs_missed_is_an_object check (jsonb_typeof(missed) = 'object'),
    constraint runs_retry_is_an_object check (jsonb_typeof(retry) = 'object'),
    constraint runs_progress_is_an_object check (jsonb_typeof(progress) = 'object'),
    constraint runs_attempts_is_a_list check (jsonb_typeof(attempts) = 'array'),
    constraint runs_counts_are_from_0 check (
      attempt between 0 and 2000000000 and failures between 0 and 2000000000 and lost between 0 and 2000000000
    ),
    constraint runs_instants_are_finite check (
      created_at >= '0001-01-01 00:00:00+00' and created_at < '200000-01-01 00:00:00+00'
      and scheduled_for >= '0001-01-01 00:00:00+00' and scheduled_for < '200000-01-01 00:00:00+00'
      and claimable_at >= '0001-01-01 00:00:00+00' and claimable_at < '200000-01-01 00:00:00+00'
      and due_at >= '0001-01-01 00:00:00+00' and due_at < '200000-01-01 00:00:00+00'
      and started_at >= '0001-01-01 00:00:00+00' and started_at < '200000-01-01 00:00:00+00'
      and completed_at >= '0001-01-01 00:00:00+00' and completed_at < '200000-01-01 00:00:00+00'
      and ended_at >= '0001-01-01 00:00:00+00' and ended_at < '200000-01-01 00:00:00+00'
    )
  ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
  -- Every index costs a write at each step of a run, since a step changes claimable_at: so they are few, and most leave
  -- some runs out.
  -- Claims: one seek to the oldest due run of a task and a priority, whatever waits elsewhere or later. And all that are
  -- running, which are never many.
  create index runs_due on belfry.runs (state, task, priority desc, claimable_at) where claimable_at is not null;
  -- Law 6: at most one unfinished run has a given live key.
  create unique index runs_live on belfry.runs (live_key)
    where live_key is not null and state in ('pending', 'running');
  -- Law 7, and the unfinished runs of a schedule.
  create unique index runs_slot on belfry.runs (concurrency_key, slot) where slot is not null and state = 'running';
  create index runs_key on belfry.runs (concurrency_key, state, claimable_at)
    where concurrency_key is not null and state in ('pending', 'running');
  -- Lists, newest first, and pruning, oldest first. What is running is read by runs_due.
  create index runs_pending on belfry.runs (created_at) where state = 'pending';
  create index runs_finished on belfry.runs (created_at) where completed_at is not null;
  create index runs_completed on belfry.runs (completed_at) where completed_at is not null;
  -- Runs that somebody finished by hand: nearly always empty.
  create index runs_without_end on belfry.runs (created_at)
    where completed_at is null and state not in ('pending', 'running');
  create index runs_unusual on belfry.runs (state, created_at) where state in ('failed', 'cancelled', 'skipped');
  -- With the id, in the order of a schedule's pages: else a page may sort all that is older.
  create index runs_schedule on belfry.runs (schedule_id, scheduled_for, id) where schedule_id is not null;
  create index runs_schedule_completed on belfry.runs (schedule_id, completed_at)
    where schedule_id is not null and completed_at is not null;

  -- Runs that no fire created: by hand, of backfills, or fired from memory. They are not counted in the row of their schedule:
  -- whoever counts there, in a transaction that takes its time, would be in the way of every fire.
  create table belfry.counts (
    schedule_id text collate "C" primary key,
    run_count bigint not null,
    last_run_id text not null,
    last_run_at timestamptz not null
  );

  create table belfry.workers (
    id text collate "C" primary key,
    host text not null,
    pid integer not null,
    tasks text[] not null,
    slots integer not null,
    state text not null,
    started_at timestamptz not null,
    heartbeat_at timestamptz not null,
    running integer not null
  );

  -- They go with their run.
  create table belfry.logs (
    run_id text collate "C" not null,
    attempt integer not null,
    number integer not null,
    at timestamptz not null,
    level text not null,
    message text not null,
    fields jsonb,
    primary key (run_id, attempt, number)
  );

  -- A run's story with one more attempt ended; the newest fifty are kept.
  create function belfry.with_attempt(
    attempts jsonb, attempt integer, worker_id text, due_at timestamptz, started_at timestamptz, ended_at timestamptz,
    outcome text, error text
  ) returns jsonb language sql immutable
  set search_path = pg_catalog, pg_temp
  as $$
    select case
      when attempts is null or jsonb_typeof(attempts) <> 'array' then '[]'
      when jsonb_array_length(attempts) >= 50 then attempts - 0
      else attempts
    end || jsonb_build_object(
      'attempt', attempt,
      'workerId', coalesce(worker_id, ''),
      'dueAt', round(extract(epoch from coalesce(due_at, started_at, ended_at)) * 1000),
      'startedAt', round(extract(epoch from coalesce(started_at, ended_at)) * 1000),
      'endedAt', round(extract(epoch from ended_at) * 1000),
      'outcome', outcome,
      'error', error
    )
  $$;

  -- Who holds which lock. A row goes with its hold; fences come from a sequence, which never goes back.
  create sequence belfry.fences;
  create table belfry.locks (
    name text collate "C" primary key,
    token text collate "C" not null,
    fence bigint not null,
    expires_at timestamptz not null
  ) with (autovacuum_vacuum_scale_factor = 0.02);

  -- A fence, or for how long somebody else holds the lock.
  create function belfry.acquire_lock(lock_name text, lock_token text, ttl_ms bigint)
  returns table (fence bigint, held_for_ms numeric)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set lock_timeout = '4s'
  as $$
  #variable_conflict use_column
  begin
    -- Without a lock first: those who wait for a hold are in nobody's way, and write nothing.
    return query
    select null::bigint, extract(epoch from l.expires_at - clock_timestamp())::numeric * 1000
    from belfry.locks as l
    where l.name = lock_name
      and l.token <> lock_token
      and l.expires_at > clock_timestamp();
    if found then return; end if;

    -- One at a time: else one who drew its fence early could write it late, after a higher one was held and released.
    perform pg_advisory_xact_lock(hashtext('belfry.locks'), hashtext(lock_name));
    return query
    insert into belfry.locks as l (name, token, fence, expires_at)
    values (lock_name, lock_token, nextval('belfry.fences'), clock_timestamp() + ttl_ms * interval '1 millisecond')
    on conflict (name) do update
    set token = excluded.token,
      fence = case
        when l.token = excluded.token and l.expires_at > clock_timestamp() then l.fence
        else excluded.fence
      end,
      expires_at = excluded.expires_at
    where l.token = excluded.token
      or l.expires_at <= clock_timestamp()
    returning l.fence, null::numeric;
    if found then return; end if;

    -- Somebody took it meanwhile; or has released it again, and then it is worth asking at once.
    return query
    select null::bigint, coalesce(
      (
        select greatest(0, extract(epoch from l.expires_at - clock_timestamp())::numeric * 1000)
        from belfry.locks as l
        where l.name = lock_name
      ),
      0
    );
  end
  $$;


  create function belfry.due(up_to integer, among integer, reader bigint, ahead_ms integer) returns table (read_at float8, next_at float8, next_count integer, unfinished json, id text, version bigint, revision integer, created_at float8, updated_at float8, declared_as text, task text, owner text, next_run_at float8, covered_until float8, overrides jsonb, paused jsonb, fired_count bigint, last_error text, finished_at float8, run_count bigint, last_run_id text, last_run_at float8, function text, description text, cron text, timezone text, payload jsonb, enabled boolean, priority integer, tags json, triggers jsonb, options jsonb, release bigint, unsettled jsonb)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set lock_timeout = '4s'
  set jit = off
  set enable_seqscan = off
  set plan_cache_mode = force_generic_plan
  set enable_hashjoin = off
  set enable_mergejoin = off
  as $$
  #variable_conflict use_column
  declare
    
  begin
    -- A crash empties the table.
    if $1 > 0 and not exists (select 1 from belfry.shares) then
      insert into belfry.shares (share, given_to, given_until)
      select share, 0, '-infinity'
      from generate_series(0, 15) as share
      on conflict do nothing;
    end if;
    return query
  with clock as materialized (select pg_catalog.date_trunc('milliseconds', pg_catalog.clock_timestamp()) as now),
  horizon as materialized (
    select clock.now + $4 * interval '1 millisecond' as at
    from clock
  ),
  first as materialized (
    select s.id, hashtext(s.id) & 15 as share
    from belfry.schedules as s
    where s.next_run_at <= (select horizon.at from horizon)
    order by s.next_run_at
    limit $2
  ),
  filled as materialized (
    select first.share, count(*) as due
    from first
    group by first.share
  ),
  others as materialized (
    select s.given_until, filled.due
    from filled
    join belfry.shares as s on s.share = filled.share
    where s.given_until > (select clock.now from clock)
      and s.given_to <> $3
  ),
  counted as materialized (
    select filled.due,
      (select coalesce(sum(others.due), 0) from others) as due_of_others,
      greatest(100 + filled.due * 0.2, least($4 / 2, 500))
        * interval '1 millisecond' as share_time
    from (select count(*) as due from first) as filled
  ),
  free as materialized (
    select s.share
    from filled
    join belfry.shares as s on s.share = filled.share
    where s.given_to = $3
      or s.given_until <= (select clock.now from clock)
    order by filled.due desc
    limit (
      select least(
        ceil(16.0 * $1 / nullif(counted.due, 0)),
        case when counted.due_of_others > 0 then 2 else 16 end
      )
      from counted
    )
    for update of s skip locked
  ),
  taken as (
    update belfry.shares as s
    set given_to = $3,
      given_until = date_trunc('milliseconds', clock.now + counted.share_time)
    from free, clock, counted
    where s.share = free.share
    returning s.share
  ),
  own as materialized (
    select first.id
    from first
    where first.share = any (array(select taken.share from taken))
    limit $1
  ),
  due as materialized (
    select s.*
    from own
    join belfry.schedules as s on s.id = own.id
  ),
  next as materialized (
    select min(s.next_run_at) as at
    from belfry.schedules as s
    where s.next_run_at > (select horizon.at from horizon)
  ),
  crowd as materialized (
    select count(*)::integer as size
    from (
      select 1
      from belfry.schedules as s
      where s.next_run_at = (select next.at from next)
      limit $1
    ) as counted
  ),
  again as materialized (
    select case
      when given.count >= least($1, counted.due) then next.at
      -- The rest is free: come again at once.
      when given.count > 0 and given.count + counted.due_of_others < counted.due then clock.now
      -- Others have the rest: come again when they should have fired it.
      else least(
        next.at,
        coalesce(
          (select min(others.given_until) from others),
          clock.now + counted.share_time
        )
      )
    end as at
    from clock
    cross join next
    cross join counted
    cross join (select count(*) as count from own) as given
  )
  select pg_catalog.date_part('epoch', clock.now) * 1000::float8,
    pg_catalog.date_part('epoch', again.at) * 1000::float8,
    case when again.at = next.at then crowd.size else 0 end,
    (
      select json_agg(json_build_array(u.id, u.state, u.attempt, u.failures, u.lost))
      from (
        -- By runs_key, one state at a time: both together would be sorted, and a schedule may have 10,000 runs that wait. Of those,
        -- the longest due are the oldest.
        select r.id, r.state, r.attempt, r.failures, r.lost
        from (values ('pending'), ('running')) as unfinished(state)
        cross join lateral (
          select r.id, r.state, r.attempt, r.failures, r.lost, r.created_at
          from belfry.runs as r
          where r.concurrency_key = 'schedule:' || due.id
            and r.state = unfinished.state
            and r.state in ('pending', 'running')
          order by r.claimable_at
          limit 100
        ) as r
        order by r.created_at
        limit 100
      ) as u
    ),
    due.id, due.version, due.revision, pg_catalog.date_part('epoch', due.created_at) * 1000::float8, pg_catalog.date_part('epoch', due.updated_at) * 1000::float8, due.declared_as, due.task, due.owner, pg_catalog.date_part('epoch', due.next_run_at) * 1000::float8, pg_catalog.date_part('epoch', due.covered_until) * 1000::float8, due.overrides, due.paused, due.fired_count, due.last_error, pg_catalog.date_part('epoch', due.finished_at) * 1000::float8, (due.runs_fired + coalesce(c.run_count, 0)), case when c.last_run_at >= coalesce(due.last_fired_at, '-infinity') then c.last_run_id else due.last_fired_id end, pg_catalog.date_part('epoch', greatest(due.last_fired_at, c.last_run_at)) * 1000::float8, due.function, due.description, due.cron, due.timezone, due.payload, due.enabled, due.priority, pg_catalog.to_json(due.tags), due.triggers, due.options, due.release, due.unsettled
  from clock
  cross join next
  cross join crowd
  cross join again
  left join due on true
  left join lateral (
    select one.*
    from belfry.counts as one
    where one.schedule_id = due.id
    limit 1
  ) as c on true
  order by due.next_run_at;
  end
  $$;


  create function belfry.fire(text[], bigint[], boolean[], bigint[], bigint[], text[], text[], bigint[], text[], bigint[], integer[], text[], text[], text[], text[], integer[], text[], bigint[], text[], text[], text[], text[], text[], integer[], text[], bigint[], text[], text[], text[], bigint[], bigint[], text[], bigint[]) returns table (plan bigint, is_going boolean, is_standing boolean, created json, is_sooner boolean)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set lock_timeout = '500ms'
  set jit = off
  set enable_seqscan = off
  set plan_cache_mode = force_generic_plan
  
  as $$
  #variable_conflict use_column
  declare
    
  begin
    
    return query
  with clock as materialized (select pg_catalog.date_trunc('milliseconds', pg_catalog.clock_timestamp()) as now),
  plans as (
    select p.*, p.place as plan
    from (select u.id, u.if_version, coalesce(u.is_removed, ($3::boolean[])[1]) as is_removed, u.next_run_at, u.covered_until, u.overrides, u.paused, u.fired_count, u.last_error, u.finished_at, coalesce(u.run_count, ($11::integer[])[1]) as run_count, u.last_run_id, u.place
    from unnest($1::text[], $2::bigint[], $3::boolean[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::bigint[], $9::text[], $10::bigint[], $11::integer[], $12::text[]) with ordinality as u(id, if_version, is_removed, next_run_at, covered_until, overrides, paused, fired_count, last_error, finished_at, run_count, last_run_id, place)) as p
  ),
  new_runs as (
    select * from (select u.id, coalesce(u.task, ($14::text[])[1]) as task, u.payload, coalesce(u.priority, ($16::integer[])[1]) as priority, u.schedule_id, u.scheduled_for, coalesce(u.triggered_by, ($19::text[])[1]) as triggered_by, u.trigger, u.missed, u.live_key, u.concurrency_key, u.concurrency_limit, u.retry, u.timeout_ms, u.reason, u.by_name, coalesce(u.state, ($29::text[])[1]) as state, u.delay_ms, u.not_before, u.message, u.plan, u.place
    from unnest($13::text[], $14::text[], $15::text[], $16::integer[], $17::text[], $18::bigint[], $19::text[], $20::text[], $21::text[], $22::text[], $23::text[], $24::integer[], $25::text[], $26::bigint[], $27::text[], $28::text[], $29::text[], $30::bigint[], $31::bigint[], $32::text[], $33::bigint[]) with ordinality as u(id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger, missed, live_key, concurrency_key, concurrency_limit, retry, timeout_ms, reason, by_name, state, delay_ms, not_before, message, plan, place)) as n
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
  ),
  created as (
    insert into belfry.runs (
    id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger, missed, live_key, concurrency_key,
    concurrency_limit, retry, timeout_ms, reason, by_name, state, claimable_at, created_at, completed_at, message)
    select 
    n.id, n.task, n.payload::jsonb, n.priority, n.schedule_id, to_timestamp(n.scheduled_for / 1000.0), n.triggered_by,
    n.trigger, n.missed::jsonb, n.live_key, n.concurrency_key, n.concurrency_limit, n.retry::jsonb, n.timeout_ms, n.reason,
    n.by_name, n.state,
    case
      when n.state = 'pending'
      then coalesce(greatest(clock.now + n.delay_ms * interval '1 millisecond', to_timestamp(n.not_before / 1000.0)), clock.now)
    end,
    clock.now,
    case when n.state = 'skipped' then clock.now end,
    n.message
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
  order by plans.plan;
  end
  $$;


  create function belfry.add(text[], text[], text[], integer[], text[], bigint[], text[], text[], text[], text[], text[], integer[], text[], bigint[], text[], text[], text[], bigint[], bigint[], text[]) returns table (is_whole boolean, run_id text)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set lock_timeout = '4s'
  set jit = off
  set enable_seqscan = off
  set plan_cache_mode = force_generic_plan
  
  as $$
  #variable_conflict use_column
  declare
    this_instant timestamptz;
  begin
    lock table belfry.runs in row exclusive mode;
    this_instant := date_trunc('milliseconds', clock_timestamp());
    if $10 is null then
      begin
        insert into belfry.runs (
    id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger, missed, live_key, concurrency_key,
    concurrency_limit, retry, timeout_ms, reason, by_name, state, claimable_at, created_at, completed_at, message)
        select 
    n.id, n.task, n.payload::jsonb, n.priority, n.schedule_id, to_timestamp(n.scheduled_for / 1000.0), n.triggered_by,
    n.trigger, n.missed::jsonb, n.live_key, n.concurrency_key, n.concurrency_limit, n.retry::jsonb, n.timeout_ms, n.reason,
    n.by_name, n.state,
    case
      when n.state = 'pending'
      then coalesce(greatest(this_instant + n.delay_ms * interval '1 millisecond', to_timestamp(n.not_before / 1000.0)), this_instant)
    end,
    this_instant,
    case when n.state = 'skipped' then this_instant end,
    n.message
        from (select u.id, coalesce(u.task, ($2::text[])[1]) as task, u.payload, coalesce(u.priority, ($4::integer[])[1]) as priority, u.schedule_id, u.scheduled_for, coalesce(u.triggered_by, ($7::text[])[1]) as triggered_by, u.trigger, u.missed, u.live_key, u.concurrency_key, u.concurrency_limit, u.retry, u.timeout_ms, u.reason, u.by_name, coalesce(u.state, ($17::text[])[1]) as state, u.delay_ms, u.not_before, u.message, u.place
    from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::integer[], $13::text[], $14::bigint[], $15::text[], $16::text[], $17::text[], $18::bigint[], $19::bigint[], $20::text[]) with ordinality as u(id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger, missed, live_key, concurrency_key, concurrency_limit, retry, timeout_ms, reason, by_name, state, delay_ms, not_before, message, place)) as n;
        if $5 is not null then
          
    insert into belfry.counts as c (schedule_id, run_count, last_run_id, last_run_at)
    select made.schedule_id, count(*), (array_agg(made.id))[count(*)], this_instant
    from (select n.* from (select u.id, coalesce(u.task, ($2::text[])[1]) as task, u.payload, coalesce(u.priority, ($4::integer[])[1]) as priority, u.schedule_id, u.scheduled_for, coalesce(u.triggered_by, ($7::text[])[1]) as triggered_by, u.trigger, u.missed, u.live_key, u.concurrency_key, u.concurrency_limit, u.retry, u.timeout_ms, u.reason, u.by_name, coalesce(u.state, ($17::text[])[1]) as state, u.delay_ms, u.not_before, u.message, u.place
    from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::integer[], $13::text[], $14::bigint[], $15::text[], $16::text[], $17::text[], $18::bigint[], $19::bigint[], $20::text[]) with ordinality as u(id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger, missed, live_key, concurrency_key, concurrency_limit, retry, timeout_ms, reason, by_name, state, delay_ms, not_before, message, place)) as n order by n.place) as made
    where made.schedule_id is not null
      and made.state = 'pending'
    group by made.schedule_id
    order by made.schedule_id
    on conflict (schedule_id) do update
    set run_count = c.run_count + excluded.run_count,
      last_run_id = excluded.last_run_id,
      last_run_at = excluded.last_run_at;
        end if;
        is_whole := true;
        return next;
        return;
      exception when unique_violation then
        null;
      end;
    end if;
    return query
  with created as (
      insert into belfry.runs (
    id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger, missed, live_key, concurrency_key,
    concurrency_limit, retry, timeout_ms, reason, by_name, state, claimable_at, created_at, completed_at, message)
      select 
    n.id, n.task, n.payload::jsonb, n.priority, n.schedule_id, to_timestamp(n.scheduled_for / 1000.0), n.triggered_by,
    n.trigger, n.missed::jsonb, n.live_key, n.concurrency_key, n.concurrency_limit, n.retry::jsonb, n.timeout_ms, n.reason,
    n.by_name, n.state,
    case
      when n.state = 'pending'
      then coalesce(greatest(this_instant + n.delay_ms * interval '1 millisecond', to_timestamp(n.not_before / 1000.0)), this_instant)
    end,
    this_instant,
    case when n.state = 'skipped' then this_instant end,
    n.message
      from (select u.id, coalesce(u.task, ($2::text[])[1]) as task, u.payload, coalesce(u.priority, ($4::integer[])[1]) as priority, u.schedule_id, u.scheduled_for, coalesce(u.triggered_by, ($7::text[])[1]) as triggered_by, u.trigger, u.missed, u.live_key, u.concurrency_key, u.concurrency_limit, u.retry, u.timeout_ms, u.reason, u.by_name, coalesce(u.state, ($17::text[])[1]) as state, u.delay_ms, u.not_before, u.message, u.place
    from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::integer[], $13::text[], $14::bigint[], $15::text[], $16::text[], $17::text[], $18::bigint[], $19::bigint[], $20::text[]) with ordinality as u(id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger, missed, live_key, concurrency_key, concurrency_limit, retry, timeout_ms, reason, by_name, state, delay_ms, not_before, message, place)) as n
      order by n.place
      on conflict do nothing
      returning id, schedule_id, state
    ),
    counted as (
      
    insert into belfry.counts as c (schedule_id, run_count, last_run_id, last_run_at)
    select made.schedule_id, count(*), (array_agg(made.id))[count(*)], this_instant
    from (select * from created) as made
    where made.schedule_id is not null
      and made.state = 'pending'
    group by made.schedule_id
    order by made.schedule_id
    on conflict (schedule_id) do update
    set run_count = c.run_count + excluded.run_count,
      last_run_id = excluded.last_run_id,
      last_run_at = excluded.last_run_at
    )
    select false, created.id
    from created;
  end
  $$;


  create function belfry.claim(for_worker text, of_tasks text[], leases_ms bigint[], up_to integer) returns table (look json, number bigint, id text, task text, payload jsonb, priority integer, schedule_id text, scheduled_for float8, triggered_by text, trigger text, live_key text, concurrency_key text, concurrency_limit integer, attempt integer, created_at float8, due_at float8, rest json)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set lock_timeout = '4s'
  set jit = off
  set enable_seqscan = off
  set plan_cache_mode = force_generic_plan
  set enable_hashjoin = off
  set enable_mergejoin = off
  as $$
  #variable_conflict use_column
  declare
    this_instant timestamptz;
    places tid[];
    slots integer[];
    numbers bigint[];
    is_limited boolean;
    due_count bigint;
    next_at float8;
  begin
    lock table belfry.runs in row exclusive mode;
    this_instant := date_trunc('milliseconds', clock_timestamp());
    
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
        cross join lateral (select case
            when r.concurrency_limit is not null and r.concurrency_key is not null
            then (
              select count(*)
              from belfry.runs as other
              where other.concurrency_key = r.concurrency_key
                and other.state = 'running'
                and other.state in ('pending', 'running')
                and other.id <> r.id
            )
          end as running) as key
        where r.state = q.state
          and r.task = q.task
          and r.priority = q.priority
          and r.claimable_at <= this_instant
          and (key.running is null or (
            key.running < r.concurrency_limit
            and (
              r.state = 'running'
              or least(r.concurrency_limit - key.running, up_to) > (
                select count(*)
                from (
                  select 1
                  from belfry.runs as earlier
                  where earlier.concurrency_key = r.concurrency_key
                    and earlier.state = 'pending'
                    and earlier.state in ('pending', 'running')
                    and earlier.claimable_at < r.claimable_at
                    and earlier.task = any (of_tasks)
                    and earlier.priority = r.priority
                    and coalesce(earlier.concurrency_limit > key.running, true)
                  limit least(r.concurrency_limit - key.running, up_to)
                ) as before_it
              )
            )
          ))
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
    select array_agg(due.place), count(due.running) > 0, count(*), (select pg_catalog.date_part('epoch', next.at) * 1000::float8 from next)
    into places, is_limited, due_count, next_at
    from due;
    
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
          select due.place, due.number, r.state, r.slot, r.concurrency_key, r.concurrency_limit, case
            when r.concurrency_limit is not null and r.concurrency_key is not null
            then (
              select count(*)
              from belfry.runs as other
              where other.concurrency_key = r.concurrency_key
                and other.state = 'running'
                and other.state in ('pending', 'running')
                and other.id <> r.id
            )
          end as running,
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
    end if;
    look := json_build_array(pg_catalog.date_part('epoch', this_instant) * 1000::float8, due_count, next_at);
    return next;
    return query
  update belfry.runs as r
    set state = 'running',
      -- A count that was written past our door must not end the claim of all others.
      attempt = least(r.attempt, 1999999999) + 1,
      worker_id = for_worker,
      due_at = r.claimable_at,
      started_at = this_instant,
      claimable_at = this_instant + leases_ms[array_position(of_tasks, r.task)] * interval '1 millisecond',
      progress = null,
      lost = least(r.lost, 1999999999) + (r.state = 'running' and r.confirmed_attempt is not distinct from r.attempt)::integer,
      attempts = case
        when r.state = 'running'
        then belfry.with_attempt(
          r.attempts, r.attempt, r.worker_id, r.due_at, r.started_at, r.claimable_at,
          case when r.confirmed_attempt = r.attempt then 'lost' else 'unconfirmed' end,
          null
        )
        else case
      when r.outcome is null then r.attempts
      else belfry.with_attempt(
        r.attempts, r.attempt, r.worker_id, r.due_at, r.started_at, r.ended_at, r.outcome, r.error
      )
    end
      end,
      outcome = null,
      slot = due.slot
    from unnest(places, slots, numbers) with ordinality as due(place, slot, number, ordinal)
    where r.ctid = due.place
    returning null::json, coalesce(due.number, due.ordinal), r.id, r.task, r.payload, r.priority, r.schedule_id, pg_catalog.date_part('epoch', r.scheduled_for) * 1000::float8, r.triggered_by, r.trigger, r.live_key, r.concurrency_key, r.concurrency_limit, r.attempt, pg_catalog.date_part('epoch', r.created_at) * 1000::float8, pg_catalog.date_part('epoch', r.due_at) * 1000::float8, case
      when pg_catalog.num_nonnulls(r.missed, r.retry, r.timeout_ms, r.reason, r.by_name, r.message, r.details, r.error, r.attempts, r.outcome) > 0 or r.failures > 0 or r.lost > 0
      then pg_catalog.json_build_array(r.missed, r.retry, r.timeout_ms, r.reason, r.by_name, r.message, r.details, r.error, r.failures, r.lost, case
      when r.outcome is null then r.attempts
      else belfry.with_attempt(
        r.attempts, r.attempt, r.worker_id, r.due_at, r.started_at, r.ended_at, r.outcome, r.error
      )
    end)
    end;
  end
  $$;


  create function belfry.extend(text[], integer[], bigint[], text[], patience_ms integer) returns table (extended_at timestamptz, run_id text)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set lock_timeout = '500ms'
  set jit = off
  set enable_seqscan = off
  set plan_cache_mode = force_generic_plan
  
  as $$
  #variable_conflict use_column
  declare
    
  begin
    perform set_config('lock_timeout', greatest(patience_ms, 1)::text, true);
    return query
  with clock as materialized (select pg_catalog.date_trunc('milliseconds', pg_catalog.clock_timestamp()) as now),
  free as (
    select r.id
    from belfry.runs as r
    where $5 = 0
      and r.id = any ($1)
    order by r.id
    for no key update skip locked
  ),
  extended as (
    update belfry.runs as r
    set claimable_at = clock.now + h.lease_ms * interval '1 millisecond',
      progress = coalesce(h.progress::jsonb, r.progress),
      confirmed_attempt = r.attempt
    from clock, unnest($1, $2, $3, $4) as h(id, attempt, lease_ms, progress)
    where r.id = h.id
      and r.state = 'running'
      and r.attempt = h.attempt
      and ($5 > 0 or r.id in (select free.id from free))
    returning r.id
  )
  select clock.now, extended.id
  from clock
  left join extended on true;
  end
  $$;


  create function belfry.change(text[], text[], integer[], text[], bigint[], integer[], integer[], text[], text[], text[], text[], text[], text[], text[]) returns table (is_awaited boolean, changed json)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set lock_timeout = '500ms'
  set jit = off
  set enable_seqscan = off
  set plan_cache_mode = force_generic_plan
  
  as $$
  #variable_conflict use_column
  declare
    
  begin
    
    return query
  with clock as materialized (select pg_catalog.date_trunc('milliseconds', pg_catalog.clock_timestamp()) as now),
  changed as (
    update belfry.runs as r
    set state = c.state,
      -- A run that waits again without a time of its own keeps its place.
      claimable_at = case
        when c.state in ('pending', 'running')
        then coalesce(clock.now + c.claimable_in_ms * interval '1 millisecond', r.due_at, clock.now)
      end,
      completed_at = case when c.state in ('pending', 'running') then null else clock.now end,
      failures = c.failures,
      lost = c.lost,
      message = c.message,
      details = c.details::jsonb,
      error = c.error,
      progress = coalesce(c.progress::jsonb, r.progress),
      reason = coalesce(c.reason, r.reason),
      by_name = coalesce(c.by_name, r.by_name),
      slot = case when c.state = 'running' then r.slot end,
      outcome = c.outcome,
      ended_at = case when c.outcome is not null then clock.now end,
      attempts = case
      when r.outcome is null then r.attempts
      else belfry.with_attempt(
        r.attempts, r.attempt, r.worker_id, r.due_at, r.started_at, r.ended_at, r.outcome, r.error
      )
    end
    from clock,
      (select u.id, coalesce(u.if_state, ($2::text[])[1]) as if_state, coalesce(u.if_attempt, ($3::integer[])[1]) as if_attempt, coalesce(u.state, ($4::text[])[1]) as state, u.claimable_in_ms, coalesce(u.failures, ($6::integer[])[1]) as failures, coalesce(u.lost, ($7::integer[])[1]) as lost, u.outcome, u.message, u.details, u.error, u.progress, u.reason, u.by_name, u.place
    from unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::bigint[], $6::integer[], $7::integer[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[]) with ordinality as u(id, if_state, if_attempt, state, claimable_in_ms, failures, lost, outcome, message, details, error, progress, reason, by_name, place)) as c
    where r.id = c.id
      and r.state = c.if_state
      and r.attempt = c.if_attempt
    returning r.id,
      -- Another waits for the end of this one. Nobody needs to be told where nobody waits, as nearly always.
      r.concurrency_limit is not null and exists (
        select 1
        from belfry.runs as other
        where other.concurrency_key = r.concurrency_key
          and other.state = 'pending'
          and other.state in ('pending', 'running')
      ) as is_awaited
  )
  select bool_or(changed.is_awaited),
    case when count(*) < cardinality($1) then to_json(coalesce(array_agg(changed.id), '{}')) end
  from changed;
  end
  $$;


  create function belfry.prune(older_than_ms bigint, up_to bigint, keep_per_schedule bigint, after_at bigint, after_id text, bite integer) returns table (deleted bigint, run_id text, completed_at timestamptz)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set lock_timeout = '4s'
  set jit = off
  set enable_seqscan = off
  set plan_cache_mode = force_generic_plan
  set enable_hashjoin = off
  set enable_mergejoin = off
  as $$
  #variable_conflict use_column
  declare
    
  begin
    update belfry.runs
    set completed_at = pg_catalog.date_trunc('milliseconds', pg_catalog.clock_timestamp())
    where id in (
      select r.id
      from belfry.runs as r
      where r.completed_at is null
        and r.state not in ('pending', 'running')
      order by r.created_at
      limit $6
      for update skip locked
    );
    return query
  with clock as materialized (select pg_catalog.date_trunc('milliseconds', pg_catalog.clock_timestamp()) as now),
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
      ) < $3
      or exists (
        select 1
        from belfry.schedules as s
        where s.id = r.schedule_id
          and s.covered_until < r.scheduled_for
      ) as is_kept
    from belfry.runs as r, clock
    where r.completed_at >= to_timestamp($4 / 1000.0)
      and (r.completed_at, r.id) > (to_timestamp($4 / 1000.0), $5)
      and r.completed_at < clock.now - $1 * interval '1 millisecond'
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
  select (select count(*) from gone), page.id, page.completed_at
  from (select 1) as always
  left join page on true
  order by page.completed_at, page.id;
  end
  $$;


  create function belfry.this_instant() returns timestamptz language sql volatile set search_path = pg_catalog, pg_temp as $$
    select date_trunc('milliseconds', clock_timestamp())
  $$;

  create function belfry.to_ms(at timestamptz) returns bigint language sql immutable set search_path = pg_catalog, pg_temp as $$
    select round(extract(epoch from at) * 1000)::bigint
  $$;

  
  create function belfry.is_task_name(name text) returns boolean language sql immutable set search_path = pg_catalog, pg_temp as $$
    select name ~ '^[A-Za-z0-9_.:/-]{1,200}$'
  $$;

  -- The bounds of schedules.create. The table's own are wider, for those who write a store's records.
  create function belfry.check_texts(schedule belfry.schedules) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if not belfry.is_task_name(schedule.task) then
      raise exception 'Schedule "%" has the task "%": use 1 to 200 letters, digits, "_", "-", ".", ":" and "/".', schedule.id,
        left(schedule.task, 80);
    end if;
    if char_length(schedule.description) > 4000 then
      raise exception 'The description of schedule "%" has more than 4000 characters.', schedule.id;
    end if;
    if cardinality(schedule.tags) > 50
      or exists (select 1 from unnest(schedule.tags) as t(tag) where char_length(tag) not between 1 and 100) then
      raise exception 'The tags of schedule "%" have to be at most 50, of 1 to 100 characters each.', schedule.id;
    end if;
    if char_length(schedule.owner) not between 1 and 200 then
      raise exception 'The owner of schedule "%" has to have 1 to 200 characters.', schedule.id;
    end if;
  end
  $$;

  -- What a payload may be, whoever gives it and to what. Only here: a constraint would read it at every fire.
  create function belfry.check_payload(payload jsonb, what text) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if octet_length(payload::text) > 1048576 then
      raise exception 'The payload of % has more than 1048576 bytes.', what;
    end if;
    if jsonb_path_exists(
      payload, 'strict $.**{64 to last} ? (@.type() == "object" || @.type() == "array")'
    ) then
      raise exception 'The payload of % is nested deeper than 64 levels.', what;
    end if;
    if (
      select count(*)
      from jsonb_path_query(payload, 'strict $.** ? (@.type() == "object").keyvalue()')
    ) > 10000 then
      raise exception 'The payload of % has more than 10000 keys.', what;
    end if;
  end
  $$;

  create function belfry.check_next_run(id text, at timestamptz) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if not (check_next_run.at >= '0001-01-01 00:00:00+00' and check_next_run.at < '10000-01-01 00:00:00+00') then
      raise exception 'Schedule "%" can''t have its next run at %: write an instant of the years 1 to 9999.', check_next_run.id,
        check_next_run.at;
    end if;
  end
  $$;

  -- What no plan could make sense of is refused at once; what only a plan can tell is shown in last_error.
  create function belfry.check_by_hand(schedule belfry.schedules) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
  declare
    missing text;
  begin
    if schedule.id !~ '^[A-Za-z0-9_-]{1,200}$' then
      raise exception 'Schedule id "%" is not valid: use 1 to 200 letters, digits, "_" and "-".', left(schedule.id, 80);
    end if;
    if schedule.function is not null and schedule.task <> 'sql' then
      raise exception 'Schedule "%" has both the task "%" and the function "%": leave one of them out.', schedule.id,
        left(schedule.task, 80), left(schedule.function, 80);
    end if;
    perform belfry.check_next_run(schedule.id, schedule.next_run_at);
    perform belfry.check_texts(schedule);
    perform belfry.check_payload(schedule.payload, format('schedule "%s"', schedule.id));
    if schedule.cron is null and schedule.triggers = '[]' then
      raise exception 'Schedule "%" has no time: give it a cron.', schedule.id;
    end if;
    if jsonb_typeof(schedule.options -> 'dependsOn') = 'array' then
      select d.named into missing
      from (
        select each ->> 'schedule' as named
        from jsonb_array_elements(schedule.options -> 'dependsOn') as each
      ) as d
      where d.named = schedule.id
        or not exists (select 1 from belfry.schedules as s where s.id = d.named)
      limit 1;
      if missing = schedule.id then
        raise exception 'Schedule "%" depends on itself.', schedule.id;
      elsif missing is not null then
        raise exception 'Schedule "%" depends on "%", which doesn''t exist: insert that one first.',
          schedule.id, left(missing, 80);
      end if;
    end if;
  end
  $$;

  
  -- One more edit. After 20 that nobody has planned, further ones are merged into the last: it keeps the oldest values.
  create function belfry.with_edit(edits jsonb, edit jsonb) returns jsonb language sql immutable set search_path = pg_catalog, pg_temp as $$
    select case
      when edits is null then jsonb_build_array(edit)
      when jsonb_array_length(edits) < 20 then edits || edit
      else jsonb_set(edits, '{-1}', (edits -> -1) || edit
        || jsonb_build_object('was', (edit -> 'was') || (edits -> -1 -> 'was')))
    end
  $$;

  -- What the next plan has to know of a change: the old values of what a plan depends on, and what was asked for.
  create function belfry.edit_between(old belfry.schedules, new belfry.schedules, at timestamptz)
  returns jsonb language plpgsql set search_path = pg_catalog, pg_temp as $$
  declare
    was jsonb;
    is_asked boolean := new.next_run_at is distinct from old.next_run_at;
  begin
    select coalesce(jsonb_object_agg(o.key, o.value), '{}') into was
    from jsonb_each(to_jsonb(old)) as o
    where o.key = any ('{task,function,payload,cron,timezone,enabled,priority,triggers,options,paused}')
      and o.value is distinct from to_jsonb(new) -> o.key;
    if was = '{}' and not is_asked then
      return null;
    end if;
    return jsonb_build_object('at', belfry.to_ms(at), 'by', session_user, 'was', was)
      || case when is_asked then jsonb_build_object('nextRunAt', belfry.to_ms(new.next_run_at)) else '{}' end;
  end
  $$;

  -- Functions of triggers have their owner's rights, and a row is of the types of its table: on a table of somebody else's, its own
  -- casts and operators would be called with them. Nobody else may make a trigger of them, either; see the end.
  create function belfry.assert_own_table(relation oid) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if relation is distinct from 'belfry.schedules'::regclass then
      raise exception 'This function is for the triggers of Belfry''s own table.' using errcode = 'insufficient_privilege';
    end if;
  end
  $$;

  -- Rows written by hand: Belfry's own writes take a new version themselves, and never come here. The writer needs no right but
  -- that to the table.
  create function belfry.written_by_hand() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  declare
    at timestamptz := belfry.this_instant();
    edit jsonb;
  begin
    perform belfry.assert_own_table(tg_relid);
    if new.function is not null then
      new.task := coalesce(new.task, 'sql');
    end if;
    perform belfry.check_by_hand(new);
    new.version := nextval('belfry.versions');
    new.updated_at := at;
    perform pg_notify(tg_table_schema, 'schedules');
    if tg_op = 'INSERT' then
      delete from belfry.counts as c
      where c.schedule_id = new.id and not exists (select 1 from belfry.schedules as s where s.id = new.id);
      new.unsettled := case when new.enabled then '[]'::jsonb end;
      -- Whole milliseconds, as the clock that they are compared with: what is due now would not be, within the same one.
      new.next_run_at := date_trunc('milliseconds', new.next_run_at);
      new.covered_until := date_trunc('milliseconds', new.covered_until);
      if new.next_run_at is null then
        -- Planned from now: the first who looks finds nothing due, and says when it will be.
        new.covered_until := coalesce(new.covered_until, at);
        new.next_run_at := at;
      elsif new.covered_until is null then
        -- Its first occurrence is then, whatever the cron says.
        new.covered_until := least(at, new.next_run_at - interval '1 millisecond');
        new.overrides := new.overrides || jsonb_build_object('scheduledFor', belfry.to_ms(new.next_run_at),
          'dueAt', belfry.to_ms(new.next_run_at), 'reason', 'Begins as inserted', 'by', session_user, 'isNext', true);
      end if;
      if not new.enabled then
        new.next_run_at := null;
      end if;
      return new;
    end if;

    if (new.id, new.created_at) is distinct from (old.id, old.created_at) then
      raise exception 'The id of a schedule, and when it was made, can''t be changed. Insert another one.';
    end if;
    new.revision := old.revision + 1;
    new.unsettled := old.unsettled;
    -- Another cron replaces the whole timetable, unless the rest of it is written as well.
    if new.cron <> coalesce(old.cron, '') and new.triggers = old.triggers then
      new.triggers := '[]';
    end if;
    edit := belfry.edit_between(old, new, at);
    if edit is not null then
      new.unsettled := belfry.with_edit(old.unsettled, edit);
      -- Due at once, also if it is disabled or paused: something may be owed until now.
      new.next_run_at := at;
    end if;
    return new;
  end
  $$;

  create trigger inserted_by_hand before insert on belfry.schedules
    for each row when (new.version = 0) execute function belfry.written_by_hand();
  create trigger updated_by_hand before update on belfry.schedules
    for each row when (new.version = old.version) execute function belfry.written_by_hand();

  create function belfry.deleted() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    perform belfry.assert_own_table(tg_relid);
    delete from belfry.counts as c where c.schedule_id = old.id;
    perform pg_notify(tg_table_schema, 'schedules');
    return null;
  end
  $$;
  -- For each row: a fire deletes schedules that are finished, and nearly always there are none.
  create trigger deleted after delete on belfry.schedules
    for each row execute function belfry.deleted();

  revoke execute on function belfry.written_by_hand(), belfry.deleted() from public;

  
  create function belfry.schedule_named(id text, is_changed boolean) returns belfry.schedules language plpgsql set search_path = pg_catalog, pg_temp as $$
  declare
    found_one belfry.schedules;
  begin
    if schedule_named.id is null then
      raise exception 'The schedule''s id is missing.' using errcode = 'null_value_not_allowed';
    end if;
    -- Whoever only triggers it doesn't keep it from firing, however long the transaction lasts.
    if is_changed then
      select s.* into found_one from belfry.schedules as s where s.id = schedule_named.id for update;
    else
      select s.* into found_one from belfry.schedules as s where s.id = schedule_named.id;
    end if;
    if found_one.id is null then
      raise exception 'There is no schedule "%".', schedule_named.id using errcode = 'no_data_found';
    end if;
    return found_one;
  end
  $$;

  -- With how many unfinished runs its queue is full, as isQueueFull() and usualLimit() have it; null without a queue.
  create function belfry.queue_room(options jsonb) returns integer language sql immutable set search_path = pg_catalog, pg_temp as $$
    select case
      when coalesce(options -> 'overlap' ->> 'policy', options ->> 'overlap') = 'queue'
      then least(
        100,
        case when options -> 'maxConcurrentRuns' between '1' and '2147483647'
          then trunc((options ->> 'maxConcurrentRuns')::numeric) else 1 end
        + case
          when options -> 'overlap' -> 'limit' between '1' and '50'
          then trunc((options -> 'overlap' ->> 'limit')::numeric)
          when coalesce(options -> 'catchUp' ->> 'policy', options ->> 'catchUp') is distinct from 'all' then 1
          when options -> 'catchUp' -> 'limit' between '1' and '50'
          then trunc((options -> 'catchUp' ->> 'limit')::numeric)
          else 50
        end
      )::integer
    end
  $$;

  -- The unfinished runs of a schedule give way to a new one.
  create function belfry.cancel_unfinished(schedule_id text) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    update belfry.runs as r
    set state = 'cancelled',
      claimable_at = null,
      completed_at = belfry.this_instant(),
      slot = null,
      message = null,
      details = null,
      error = null,
      reason = 'Replaced by a run that was triggered',
      by_name = session_user,
      outcome = case when r.state = 'running' then 'cancelled' end,
      ended_at = case when r.state = 'running' then belfry.this_instant() end,
      attempts = case
      when r.outcome is null then r.attempts
      else belfry.with_attempt(
        r.attempts, r.attempt, r.worker_id, r.due_at, r.started_at, r.ended_at, r.outcome, r.error
      )
    end
    from (
      -- In one order, as everyone takes runs: so that nobody waits for one who waits for them.
      select u.id
      from belfry.runs as u
      where u.concurrency_key = 'schedule:' || cancel_unfinished.schedule_id
        and u.state in ('pending', 'running')
      order by u.id
      for update
    ) as unfinished
    where r.id = unfinished.id;
    if found then
      perform pg_notify('belfry', 'cancelled');
    end if;
  end
  $$;

  -- One run now; the next occurrence is untouched. The run takes the schedule's options along as they are written: durations and
  -- the rules of retries are understood by whoever reads the run.
  create function belfry.trigger(id text, payload jsonb default null) returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  declare
    schedule belfry.schedules := belfry.schedule_named(id, is_changed => false);
    options jsonb := schedule.options;
    own jsonb := coalesce(trigger.payload, schedule.payload);
    policy text := coalesce(options -> 'overlap' ->> 'policy', options ->> 'overlap', 'skip');
    is_full boolean;
    holder text;
    new_id text := schedule.id || '+' || gen_random_uuid();
  begin
    perform belfry.check_payload(own, format('schedule "%s"', schedule.id));
    if policy in ('queue', 'replace') then
      -- One after the other: what the other transaction makes isn't seen before it ends.
      perform pg_advisory_xact_lock(hashtext('belfry.trigger'), hashtext(schedule.id));
    end if;
    select count(*) >= belfry.queue_room(options), (array_agg(r.id order by r.created_at))[1] into is_full, holder
    from belfry.runs as r
    where policy = 'queue'
      and r.concurrency_key = 'schedule:' || schedule.id
      and r.state in ('pending', 'running');
    if is_full then
      return jsonb_build_object('success', false, 'run_id', holder, 'job_name', schedule.id,
        'message', 'Its queue is full. Still unfinished: ' || holder);
    end if;
    if policy = 'replace' then
      perform belfry.cancel_unfinished(schedule.id);
    end if;
    insert into belfry.runs (id, task, payload, priority, schedule_id, triggered_by, trigger, live_key, concurrency_key,
      concurrency_limit, retry, by_name, state, claimable_at)
    values (new_id, schedule.task,
      case
        when schedule.function is null then own
        when own is null then jsonb_build_object('function', schedule.function)
        else jsonb_build_object('function', schedule.function, 'payload', own)
      end,
      schedule.priority, schedule.id, 'manual', 'manual',
      case when policy not in ('queue', 'replace', 'allow') then 'schedule:' || schedule.id end,
      'schedule:' || schedule.id,
      coalesce(
        case
          when options -> 'maxConcurrentRuns' between '1' and '2147483647'
          then trunc((options ->> 'maxConcurrentRuns')::numeric)::integer
        end,
        case when policy = 'allow' then null else 1 end
      ),
      jsonb_build_object('options', options), session_user, 'pending', belfry.this_instant())
    on conflict do nothing;
    if not found then
      select r.id into holder from belfry.runs as r
      where r.live_key = 'schedule:' || schedule.id and r.state in ('pending', 'running');
      return jsonb_build_object('success', false, 'run_id', holder, 'job_name', schedule.id,
        'message', 'Still unfinished: ' || coalesce(holder, 'another run'));
    end if;
    insert into belfry.counts as c (schedule_id, run_count, last_run_id, last_run_at)
    values (schedule.id, 1, new_id, belfry.this_instant())
    on conflict (schedule_id) do update
    set run_count = c.run_count + 1,
      last_run_id = excluded.last_run_id,
      last_run_at = excluded.last_run_at;
    perform pg_notify('belfry', 'runs');
    return jsonb_build_object('success', true, 'run_id', new_id, 'job_name', schedule.id);
  end
  $$;

  create function belfry.pause(id text, reason text default null, until timestamptz default null)
  returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  declare
    schedule belfry.schedules := belfry.schedule_named(id, is_changed => true);
    at timestamptz := belfry.this_instant();
  begin
    if until <= at then
      raise exception 'Schedule "%" can''t be paused until %: that is not in the future.', schedule.id, until;
    end if;
    update belfry.schedules as s
    set paused = jsonb_build_object('at', coalesce((s.paused ->> 'at')::bigint, belfry.to_ms(at)), 'until', belfry.to_ms(until),
      'reason', reason, 'by', session_user)
    where s.id = schedule.id;
    return jsonb_build_object('success', true, 'job_name', schedule.id);
  end
  $$;

  create function belfry.resume(id text) returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  declare
    schedule belfry.schedules := belfry.schedule_named(id, is_changed => true);
  begin
    if schedule.paused is null then
      return jsonb_build_object('success', true, 'job_name', schedule.id, 'message', 'It was not paused');
    end if;
    update belfry.schedules as s
    set paused = null
    where s.id = schedule.id;
    return jsonb_build_object('success', true, 'job_name', schedule.id);
  end
  $$;

  -- The next occurrence is then, whatever the cron says; those it replaces are recorded, then on from there.
  create function belfry.reschedule(id text, at timestamptz) returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  declare
    schedule belfry.schedules := belfry.schedule_named(id, is_changed => true);
    asked_at timestamptz := belfry.this_instant();
    next_run timestamptz := date_trunc('milliseconds', reschedule.at);
  begin
    if next_run is null then
      raise exception 'Schedule "%" can''t be rescheduled: the time is missing.', schedule.id
        using errcode = 'null_value_not_allowed';
    end if;
    perform belfry.check_next_run(schedule.id, next_run);
    if next_run < asked_at then
      raise exception 'Schedule "%" can''t be rescheduled to %: that is in the past.', schedule.id, next_run;
    end if;
    if jsonb_typeof(schedule.options -> 'maxRuns') = 'number'
      and (schedule.options ->> 'maxRuns')::numeric <= schedule.fired_count then
      raise exception 'Schedule "%" can''t be rescheduled to %: it has had its % runs.', schedule.id, next_run,
        schedule.options ->> 'maxRuns';
    end if;
    if next_run <= schedule.covered_until then
      raise exception 'Schedule "%" can''t be rescheduled to %: everything up to % is settled.', schedule.id, next_run,
        schedule.covered_until;
    end if;
    -- Written as an edit: an update to the instant that is stored already would be none to the trigger.
    update belfry.schedules as s
    set unsettled = belfry.with_edit(s.unsettled, jsonb_build_object('at', belfry.to_ms(asked_at), 'by', session_user,
        'was', '{}'::jsonb, 'nextRunAt', belfry.to_ms(next_run))),
      next_run_at = asked_at,
      version = nextval('belfry.versions'),
      revision = s.revision + 1,
      updated_at = asked_at
    where s.id = schedule.id;
    perform pg_notify('belfry', 'schedules');
    return jsonb_build_object('success', true, 'job_name', schedule.id, 'next_run', next_run);
  end
  $$;

  -- A run of any task. While an unfinished run has the key, no other is made.
  create function belfry.enqueue(
    task text, payload jsonb default null, delay interval default '0', priority integer default 0, key text default null
  ) returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  declare
    new_id text := gen_random_uuid();
    holder text;
  begin
    if enqueue.task is null or not belfry.is_task_name(enqueue.task) then
      raise exception 'The task "%" can''t be enqueued: use 1 to 200 letters, digits, "_", "-", ".", ":" and "/".', left(enqueue.task, 80);
    end if;
    if enqueue.delay < interval '0' then
      raise exception 'The delay % is negative.', enqueue.delay;
    end if;
    if char_length(enqueue.key) not between 1 and 255 then
      raise exception 'The key has % characters: use 1 to 255.', char_length(enqueue.key);
    end if;
    perform belfry.check_payload(enqueue.payload, format('the task "%s"', enqueue.task));
    insert into belfry.runs (id, task, payload, priority, triggered_by, live_key, by_name, state, claimable_at)
    values (new_id, enqueue.task, enqueue.payload, enqueue.priority, 'api', 'key:' || enqueue.key, session_user, 'pending',
      date_trunc('milliseconds', belfry.this_instant() + coalesce(enqueue.delay, '0')))
    on conflict do nothing;
    if not found then
      select r.id into holder from belfry.runs as r
      where r.live_key = 'key:' || enqueue.key and r.state in ('pending', 'running');
      return jsonb_build_object('success', false, 'run_id', holder, 'message', 'An unfinished run has this key');
    end if;
    perform pg_notify('belfry', 'runs');
    return jsonb_build_object('success', true, 'run_id', new_id);
  end
  $$;

  -- They do what their caller may not do without them: who may call them is for an admin to say.
  revoke execute on function
    belfry.trigger(text, jsonb),
    belfry.pause(text, text, timestamptz),
    belfry.resume(text),
    belfry.reschedule(text, timestamptz),
    belfry.enqueue(text, jsonb, interval, integer, text)
  from public;

  
  -- One row for each schedule. Its last run is the newest, whatever made it and whether or not it has ended. The rate is of the runs
  -- that are still stored and that ended by themselves.
  create view belfry.schedule_status as
  select s.id as name,
    s.description,
    s.enabled and s.paused is null as enabled,
    case
      when s.last_error is not null then 'broken'
      when not s.enabled then 'disabled'
      when s.paused is not null then 'paused'
      when s.finished_at is not null then 'finished'
      else 'active'
    end as status,
    coalesce(s.last_error, s.paused ->> 'reason') as status_reason,
    -- Also of one that is disabled: when it is enabled again, it is still paused.
    s.paused ->> 'by' as paused_by,
    to_timestamp((s.paused ->> 'at')::numeric / 1000.0) as paused_at,
    to_timestamp((s.paused ->> 'until')::numeric / 1000.0) as paused_until,
    s.cron,
    s.timezone,
    greatest(s.last_fired_at, c.last_run_at) as last_run,
    greatest(s.last_fired_at, c.last_run_at) as last_run_at,
    case when c.last_run_at >= coalesce(s.last_fired_at, '-infinity') then c.last_run_id else s.last_fired_id end as last_run_id,
    last.state as last_run_state,
    case when last.state = 'succeeded' then true when last.state in ('failed', 'cancelled') then false end as last_run_success,
    last.message as last_run_message,
    (s.runs_fired + coalesce(c.run_count, 0)) as total_runs,
    (
      select round(100.0 * count(*) filter (where r.state = 'succeeded') / nullif(count(*), 0), 1)
      from belfry.runs as r
      where r.schedule_id = s.id
        and r.state in ('succeeded', 'failed')
    ) as success_rate_percent,
    -- While an edit waits to be planned, nobody knows yet.
    case when s.enabled and s.paused is null and s.unsettled is null then s.next_run_at end as next_run,
    case when s.enabled and s.paused is null and s.unsettled is null then s.next_run_at end as next_run_at,
    s.last_error
  from belfry.schedules as s
  left join belfry.counts as c on c.schedule_id = s.id
  left join belfry.runs as last on last.id = case when c.last_run_at >= coalesce(s.last_fired_at, '-infinity') then c.last_run_id else s.last_fired_id end;

  -- One row for each run: what was asked for, when it began and ended, who performed it, and how late it began.
  create view belfry.run_history as
  select r.id as run_id,
    r.schedule_id as job_name,
    r.task,
    r.state,
    r.scheduled_for,
    r.created_at as enqueued_at,
    r.started_at,
    r.completed_at,
    round(extract(epoch from r.completed_at - r.started_at) * 1000)::bigint as duration_ms,
    case when r.state = 'succeeded' then true when r.state in ('failed', 'cancelled') then false end as success,
    coalesce(r.message, r.error) as message,
    r.details,
    case r.triggered_by when 'schedule' then 'scheduler' else r.triggered_by end as triggered_by,
    -- Who asked for it, or changed it last; null for what the timetable fired.
    r.by_name as requested_by,
    r.worker_id as performed_by,
    r.due_at,
    -- Counts from when it was due; after it was given back, from the end of the attempt before. An attempt that has ended is in
    -- attempts only after the next change.
    round(extract(epoch from r.started_at - greatest(
      r.due_at,
      to_timestamp((r.attempts -> case
        when (r.attempts -> -1 ->> 'attempt')::integer = r.attempt then -2
        else -1
      end ->> 'endedAt')::numeric / 1000.0)
    )) * 1000)::bigint as late_ms,
    r.attempt as attempts,
    r.error,
    r.reason
  from belfry.runs as r;

`
