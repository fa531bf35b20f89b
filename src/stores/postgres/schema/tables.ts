/** Names mean PostgreSQL's own, whatever else its caller, or somebody who may create functions, has put in the way. */
export const PINNED = "set search_path = pg_catalog, pg_temp"

/** With the rights of Belfry's owner; `session_user` is still the caller. */
export const AS_OWNER = `security definer ${PINNED}`

/** More than any run has attempts: one more is still an integer. */
export const COUNT_MAX = 2_000_000_000

/** What JavaScript's dates and RFC 3339 can tell; null passes. */
export const isInstant = (column: string) =>
  `${column} >= '0001-01-01 00:00:00+00' and ${column} < '10000-01-01 00:00:00+00'`

/** What JavaScript's dates can tell. A long delay may end after the year 9999. Null passes. */
const isShowable = (column: string) =>
  `${column} >= '0001-01-01 00:00:00+00' and ${column} < '200000-01-01 00:00:00+00'`

/**
 * The tables. Instants are `timestamptz` in whole milliseconds; JSON is `jsonb`. Ids and keys compare by their bytes (`"C"`),
 * whatever the database's language. `belfry` stands for whatever schema was asked for.
 */
export const TABLES = `
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
  create function belfry.is_instant_ms(at jsonb) returns boolean language sql immutable ${PINNED} as $$
    select coalesce(at between '-62135596800000' and '253402300799999', false)
  $$;
  create function belfry.is_text_or_null(value jsonb) returns boolean language sql immutable ${PINNED} as $$
    select coalesce(jsonb_typeof(value) in ('string', 'null'), true)
  $$;
  create function belfry.are_overrides(overrides jsonb) returns boolean language sql immutable ${PINNED} as $$
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
  create function belfry.is_pause(pause jsonb) returns boolean language sql immutable ${PINNED} as $$
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
      ${["next_run_at", "covered_until", "created_at", "updated_at", "last_fired_at", "finished_at"].map(isInstant).join("\n      and ")}
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
      attempt between 0 and ${COUNT_MAX} and failures between 0 and ${COUNT_MAX} and lost between 0 and ${COUNT_MAX}
    ),
    constraint runs_instants_are_finite check (
      ${["created_at", "scheduled_for", "claimable_at", "due_at", "started_at", "completed_at", "ended_at"].map(isShowable).join("\n      and ")}
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
`
