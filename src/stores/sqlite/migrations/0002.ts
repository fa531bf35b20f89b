export const MIGRATION_2 = `
  -- The run that a run is a part of.
  alter table belfry_runs add column parent_id text;
  create index belfry_runs_parent on belfry_runs (parent_id, created_at) where parent_id is not null;
  -- Lists by task, newest first.
  create index belfry_runs_task on belfry_runs (task, created_at);
  -- Runs that neither a timetable nor an ordinary enqueue made. They are few, so a list of them must not look at all the others.
  create index belfry_runs_triggered_by on belfry_runs (triggered_by, created_at)
    where triggered_by in ('catchup', 'manual', 'backfill');

  -- How the runs of a schedule end, kept by the step that ends them.
  alter table belfry_schedules add column last_state text;
  alter table belfry_schedules add column last_ended_at integer;
  alter table belfry_schedules add column last_success_at integer;
  alter table belfry_schedules add column failures_in_a_row integer not null default 0;
  update belfry_schedules
  set (last_state, last_ended_at) = (
      select state, completed_at
      from belfry_runs
      where schedule_id = belfry_schedules.id
        and state in ('succeeded', 'failed', 'cancelled')
        and completed_at is not null
      order by completed_at desc
      limit 1
    ),
    last_success_at = (
      select max(completed_at)
      from belfry_runs
      where schedule_id = belfry_schedules.id
        and state = 'succeeded'
    );
  update belfry_schedules
  set failures_in_a_row = (
    select count(*)
    from belfry_runs
    where schedule_id = belfry_schedules.id
      and state = 'failed'
      and completed_at > coalesce(belfry_schedules.last_success_at, 0)
  );

  alter table belfry_meta add column documents_news integer not null default 0;
  alter table belfry_meta add column ended_news integer not null default 0;

  create table belfry_documents (
    kind text not null,
    id text not null,
    version integer not null,
    created_at integer not null,
    updated_at integer not null,
    value text not null,
    primary key (kind, id)
  ) strict, without rowid;

  create table belfry_journal (
    id text not null primary key,
    at integer not null,
    action text not null,
    subject text not null,
    subject_id text not null,
    by_name text,
    reason text,
    before_value text not null,
    after_value text not null
  ) strict;
  create index belfry_journal_at on belfry_journal (at, id);
  create index belfry_journal_subject on belfry_journal (subject, subject_id, at, id);

  alter table belfry_workers add column roles text not null default '[]';
  alter table belfry_workers add column version text not null default '';
  alter table belfry_workers add column labels text not null default '{}';
  alter table belfry_workers add column expected_by integer;
  -- The newest batch of statistics that was added.
  alter table belfry_workers add column batch integer not null default 0;

  create table belfry_statistics (
    subject text not null,
    span_ms integer not null,
    at integer not null,
    expires_at integer not null,
    counters text not null,
    primary key (subject, span_ms, at)
  ) strict, without rowid;
  create index belfry_statistics_expires on belfry_statistics (expires_at);
`
