/**
 * Instants are whole milliseconds since 1970; JSON is text. The names begin with `belfry_`, so that Belfry can share a file
 * with an application's own tables. Text compares by its bytes, which is SQLite's default.
 */
export const MIGRATION_1 = `
  -- One row: the schema's number, the count that schedules' versions are taken from, and how often each hint was due.
  create table belfry_meta (
    id integer primary key check (id = 1),
    schema integer not null,
    last_version integer not null,
    schedules_news integer not null,
    runs_news integer not null,
    cancelled_news integer not null
  ) strict;
  insert into belfry_meta (id, schema, last_version, schedules_news, runs_news, cancelled_news)
  values (1, 0, 0, 0, 0, 0);

  create table belfry_schedules (
    id text not null primary key,
    version integer not null,
    revision integer not null,
    created_at integer not null,
    updated_at integer not null,
    declared_as text,
    task text not null,
    owner text,
    next_run_at integer,
    covered_until integer,
    overrides text not null,
    paused text,
    fired_count integer not null,
    last_error text,
    finished_at integer,
    definition text not null,
    -- Counted with each run of it that is created.
    run_count integer not null default 0,
    last_run_id text,
    last_run_at integer
  ) strict;
  create index belfry_schedules_due on belfry_schedules (next_run_at) where next_run_at is not null;
  create index belfry_schedules_owner on belfry_schedules (owner, id) where owner is not null;
  create index belfry_schedules_task on belfry_schedules (task, id);

  -- Which process was given the due schedules of a share, and until when nobody else is given them: see statements/due.ts.
  create table belfry_shares (
    share integer primary key,
    given_to integer not null,
    given_until integer not null
  ) strict;

  create table belfry_schedule_tags (
    tag text not null,
    schedule_id text not null references belfry_schedules (id) on delete cascade,
    primary key (tag, schedule_id)
  ) strict, without rowid;
  create index belfry_schedule_tags_schedule on belfry_schedule_tags (schedule_id);

  create table belfry_runs (
    id text not null primary key,
    task text not null,
    priority integer not null,
    schedule_id text,
    scheduled_for integer,
    triggered_by text not null,
    trigger_text text,
    missed text,
    live_key text,
    concurrency_key text,
    concurrency_limit integer,
    retry text,
    timeout_ms integer,
    reason text,
    by_name text,
    state text not null,
    claimable_at integer,
    attempt integer not null,
    failures integer not null,
    lost integer not null,
    worker_id text,
    created_at integer not null,
    -- What claimable_at was when the newest attempt began.
    due_at integer,
    started_at integer,
    completed_at integer,
    -- The newest attempt that a heartbeat has confirmed.
    confirmed_attempt integer,
    -- What may be large comes last: SQLite reads a row from its beginning, as far as it has to.
    message text,
    error text,
    progress text,
    attempts text not null,
    details text not null,
    payload text not null
  ) strict;
  -- Claims: one seek to the oldest due run of a task and a priority, whatever waits elsewhere or later.
  create index belfry_runs_due on belfry_runs (task, priority desc, claimable_at) where claimable_at is not null;
  -- Law 6: at most one unfinished run has a given live key.
  create unique index belfry_runs_live on belfry_runs (live_key)
    where live_key is not null and state in ('pending', 'running');
  -- Law 7 counts the running runs of a key; a plan's facts read the unfinished ones, oldest first.
  create index belfry_runs_key on belfry_runs (concurrency_key, state, created_at)
    where concurrency_key is not null and state in ('pending', 'running');
  -- Lists, newest first, and pruning, oldest first. Without the id, which tells apart what has the same instant: it is the
  -- longest column by far, and sorting those few costs less than keeping it in every index.
  create index belfry_runs_created on belfry_runs (created_at);
  create index belfry_runs_state on belfry_runs (state, created_at);
  create index belfry_runs_completed on belfry_runs (completed_at) where completed_at is not null;
  -- Runs that somebody finished by hand: nearly always empty.
  create index belfry_runs_without_end on belfry_runs (created_at)
    where completed_at is null and state not in ('pending', 'running');
  create index belfry_runs_schedule_created on belfry_runs (schedule_id, created_at) where schedule_id is not null;
  create index belfry_runs_schedule_scheduled on belfry_runs (schedule_id, scheduled_for)
    where schedule_id is not null and scheduled_for is not null;
  -- Also the last success of a schedule that others depend on, and which of its runs are its newest: those are counted for
  -- every old run that may be pruned, by the index alone, so here the id is worth its room.
  create index belfry_runs_schedule_completed on belfry_runs (schedule_id, completed_at, state, id)
    where schedule_id is not null and completed_at is not null;

  create table belfry_workers (
    id text not null primary key,
    host text not null,
    pid integer not null,
    tasks text not null,
    slots integer not null,
    state text not null,
    started_at integer not null,
    heartbeat_at integer not null,
    running integer not null
  ) strict;

  -- Lines lie in the order they are read in. They go with their run.
  create table belfry_logs (
    run_id text not null references belfry_runs (id) on delete cascade,
    attempt integer not null,
    number integer not null,
    at integer not null,
    level text not null,
    message text not null,
    fields text not null,
    primary key (run_id, attempt, number)
  ) strict, without rowid;

  -- Who holds which lock. Each new holder is a new row: SQLite never gives a number of such a key again, so fences rise.
  create table belfry_locks (
    -- There is no number after the largest: whoever wrote that one would lock out everybody.
    fence integer primary key autoincrement check (fence between 1 and 9007199254740991),
    name text not null unique,
    token text not null,
    expires_at integer not null
  ) strict;
`
