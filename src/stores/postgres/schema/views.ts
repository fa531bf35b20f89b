import { tallyColumn } from "../schedule-rows.ts"

/** What happened, for people with SQL. A view reads the tables with its owner's rights. */
export const VIEWS = `
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
    ${tallyColumn("s", "last_run_at")} as last_run,
    ${tallyColumn("s", "last_run_at")} as last_run_at,
    ${tallyColumn("s", "last_run_id")} as last_run_id,
    last.state as last_run_state,
    case when last.state = 'succeeded' then true when last.state in ('failed', 'cancelled') then false end as last_run_success,
    last.message as last_run_message,
    ${tallyColumn("s", "run_count")} as total_runs,
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
  left join belfry.runs as last on last.id = ${tallyColumn("s", "last_run_id")};

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
