export const MIGRATION_2 = `
  -- The run that a run is a part of.
  alter table belfry_runs add column parent_id text;
  create index belfry_runs_parent on belfry_runs (parent_id, created_at) where parent_id is not null;
  -- Lists by task, newest first.
  create index belfry_runs_task on belfry_runs (task, created_at);
  -- Runs that neither a timetable nor an ordinary enqueue made. They are few, so a list of them must not look at all the others.
  create index belfry_runs_triggered_by on belfry_runs (triggered_by, created_at)
    where triggered_by in ('catchup', 'manual', 'backfill');
`
