/** Made by scripts/freeze-migration.ts from ../schema/. Never edited by hand, and never again after its release. */
export const MIGRATION_2 = `
  -- The run that this run is a part of.
  alter table belfry.runs add column parent_id text collate "C";
  create index runs_parent on belfry.runs (parent_id, created_at) where parent_id is not null;
  -- Lists by task, newest first.
  create index runs_task on belfry.runs (task, created_at) where completed_at is not null;
  -- Runs that neither a timetable nor an ordinary enqueue created. They are few, so a list of them must not read all other runs.
  create index runs_triggered_by on belfry.runs (triggered_by, created_at)
    where completed_at is not null and triggered_by in ('catchup', 'manual', 'backfill');
  -- Keys in these indexes are seldom equal, so looking for equal ones saves no space. When a page was full, it cost more than the
  -- insertion itself: a claim and an end together execute 9 % fewer instructions on the server without it.
  alter index belfry.runs_pkey set (deduplicate_items = off);
  alter index belfry.runs_finished set (deduplicate_items = off);
  alter index belfry.runs_completed set (deduplicate_items = off);
  alter index belfry.runs_task set (deduplicate_items = off);


  create table belfry.ends (
    schedule_id text collate "C" primary key,
    last_state text not null,
    last_ended_at timestamptz not null,
    last_success_at timestamptz,
    failures_in_a_row bigint not null
  );
  insert into belfry.ends (schedule_id, last_state, last_ended_at, last_success_at, failures_in_a_row)
  select s.id, newest.state, newest.completed_at, success.completed_at, failures.number
  from belfry.schedules as s
  join lateral (
    select r.state, r.completed_at
    from belfry.runs as r
    where r.schedule_id = s.id
      and r.completed_at is not null
      and r.state in ('succeeded', 'failed', 'cancelled')
    order by r.completed_at desc
    limit 1
  ) as newest on true
  left join lateral (
    select max(r.completed_at) as completed_at
    from belfry.runs as r
    where r.schedule_id = s.id
      and r.completed_at is not null
      and r.state = 'succeeded'
  ) as success on true
  left join lateral (
    select count(*) as number
    from belfry.runs as r
    where r.schedule_id = s.id
      and r.completed_at > coalesce(success.completed_at, '-infinity')
      and r.state = 'failed'
  ) as failures on true;

  -- Ends of runs that were changed in a caller's transaction. Its commit moves them to belfry.ends, so the table
  -- is empty for all other sessions.
  create table belfry.deferred_ends (
    number bigint generated always as identity primary key,
    schedule_id text collate "C" not null,
    last_state text not null,
    last_ended_at timestamptz not null,
    last_success_at timestamptz,
    failures_in_a_row bigint not null
  );
  create function belfry.store_deferred_ends() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    if tg_relid is distinct from 'belfry.deferred_ends'::regclass then
      raise exception 'This function is for the triggers of Belfry''s own table.' using errcode = 'insufficient_privilege';
    end if;
    delete from belfry.deferred_ends as d where d.number = new.number;
    insert into belfry.ends as e (schedule_id, last_state, last_ended_at, last_success_at, failures_in_a_row)
    select new.schedule_id, new.last_state, new.last_ended_at, new.last_success_at, new.failures_in_a_row
    where exists (select 1 from belfry.schedules as s where s.id = new.schedule_id)
    on conflict (schedule_id) do update
    set last_state = excluded.last_state,
      last_ended_at = excluded.last_ended_at,
      last_success_at = coalesce(excluded.last_success_at, e.last_success_at),
      failures_in_a_row = excluded.failures_in_a_row
        + case when excluded.last_success_at is null then e.failures_in_a_row else 0 end;
    return null;
  end
  $$;
  create constraint trigger store_deferred_ends after insert on belfry.deferred_ends
    deferrable initially deferred
    for each row execute function belfry.store_deferred_ends();

  create function belfry.delete_ends() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    perform belfry.assert_own_table(tg_relid);
    delete from belfry.ends as e where e.schedule_id = old.id;
    return null;
  end
  $$;
  create trigger delete_ends after delete on belfry.schedules
    for each row execute function belfry.delete_ends();

  revoke execute on function belfry.store_deferred_ends(), belfry.delete_ends() from public;


  create table belfry.documents (
    kind text collate "C" not null,
    id text collate "C" not null,
    version bigint not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    value jsonb not null,
    primary key (kind, id)
  );


  create table belfry.journal (
    id text collate "C" primary key,
    at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    action text not null,
    subject text collate "C" not null,
    subject_id text collate "C" not null,
    by_name text,
    reason text,
    before_value jsonb,
    after_value jsonb
  );
  create index journal_at on belfry.journal (at, id);
  create index journal_subject on belfry.journal (subject, subject_id, at, id);

  -- The last version that was written by SQL directly.
  alter table belfry.schedules add column edited_version bigint;

  create or replace function belfry.written_by_hand() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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
    new.edited_version := new.version;
    new.updated_at := at;
    perform pg_notify(tg_table_schema, 'schedules');
    if tg_op = 'INSERT' then
      delete from belfry.counts as c
      where c.schedule_id = new.id and not exists (select 1 from belfry.schedules as s where s.id = new.id);
      new.unsettled := case when new.enabled then '[]'::jsonb end;
      -- Whole milliseconds, like the clock. Otherwise a schedule that is due now would not be due in the same millisecond.
      new.next_run_at := date_trunc('milliseconds', new.next_run_at);
      new.covered_until := date_trunc('milliseconds', new.covered_until);
      if new.next_run_at is null then
        -- Planned from now: the first process that reads the schedule finds no due occurrence, and stores its next run.
        new.covered_until := coalesce(new.covered_until, at);
        new.next_run_at := at;
      elsif new.covered_until is null then
        -- The first occurrence is at this instant, whatever the cron expression says.
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
    -- A new cron expression replaces the whole timetable, unless the update also writes the triggers.
    if new.cron <> coalesce(old.cron, '') and new.triggers = old.triggers then
      new.triggers := '[]';
    end if;
    edit := belfry.edit_between(old, new, at);
    if edit is not null then
      new.unsettled := belfry.with_edit(old.unsettled, edit);
      -- Due at once, also if it is disabled or paused: occurrences up to now may be owed.
      new.next_run_at := at;
    end if;
    return new;
  end
  $$;

  -- The columns of a schedule that users may write.
  create function belfry.definition_of(schedule jsonb) returns jsonb language sql immutable set search_path = pg_catalog, pg_temp as $$
    select jsonb_object_agg(c.key, c.value)
    from jsonb_each(schedule) as c
    where c.key = any (
      '{task,function,description,cron,timezone,payload,enabled,priority,tags,owner,triggers,options,paused}'
    )
  $$;

  create function belfry.journal_edit() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  declare
    old_values jsonb;
    new_values jsonb := belfry.definition_of(to_jsonb(new));
    requested_next_run_at jsonb := new.unsettled -> -1 -> 'nextRunAt';
  begin
    perform belfry.assert_own_table(tg_relid);
    if tg_op = 'UPDATE' then
      old_values := belfry.definition_of(to_jsonb(old));
      select coalesce(jsonb_object_agg(c.key, c.value), '{}') into new_values
      from jsonb_each(new_values) as c
      where c.value is distinct from old_values -> c.key;
      select coalesce(jsonb_object_agg(c.key, c.value), '{}') into old_values
      from jsonb_each(old_values) as c
      where new_values ? c.key;
      if requested_next_run_at is not null and new.unsettled is distinct from old.unsettled then
        new_values := new_values || jsonb_build_object('nextRunAt', requested_next_run_at);
      end if;
      if new_values = '{}' then
        return null;
      end if;
    end if;
    insert into belfry.journal (id, action, subject, subject_id, by_name, before_value, after_value)
    values (gen_random_uuid(), case tg_op when 'INSERT' then 'created' else 'updated' end, 'schedule', new.id, session_user, old_values, new_values);
    return null;
  end
  $$;
  create trigger journal_edit after insert or update on belfry.schedules
    for each row when (new.edited_version = new.version) execute function belfry.journal_edit();

  -- Belfry's own deletions are listed in belfry_engine.deleted; see fire.
  create function belfry.journal_deletion() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    perform belfry.assert_own_table(tg_relid);
    if position(' ' || old.id || ' ' in coalesce(current_setting('belfry_engine.deleted', true), '')) = 0 then
      insert into belfry.journal (id, action, subject, subject_id, by_name, before_value)
      values (gen_random_uuid(), 'deleted', 'schedule', old.id, session_user, belfry.definition_of(to_jsonb(old)));
    end if;
    return null;
  end
  $$;
  create trigger journal_deletion after delete on belfry.schedules
    for each row execute function belfry.journal_deletion();

  -- It sets a new version itself, so the triggers don't fire. It writes its entry itself.
  create or replace function belfry.reschedule(id text, at timestamptz) returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  declare
    schedule belfry.schedules := belfry.schedule_named(id, is_changed => true);
    requested_at timestamptz := belfry.this_instant();
    next_run timestamptz := date_trunc('milliseconds', reschedule.at);
  begin
    if next_run is null then
      raise exception 'Schedule "%" can''t be rescheduled: the time is missing.', schedule.id
        using errcode = 'null_value_not_allowed';
    end if;
    perform belfry.check_next_run(schedule.id, next_run);
    if next_run < requested_at then
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
    -- Stored as an edit: the trigger sees no change in an update to the instant that is already stored.
    update belfry.schedules as s
    set unsettled = belfry.with_edit(s.unsettled, jsonb_build_object('at', belfry.to_ms(requested_at), 'by', session_user,
        'was', '{}'::jsonb, 'nextRunAt', belfry.to_ms(next_run))),
      next_run_at = requested_at,
      version = nextval('belfry.versions'),
      revision = s.revision + 1,
      updated_at = requested_at
    where s.id = schedule.id;
    insert into belfry.journal (id, action, subject, subject_id, by_name, before_value, after_value)
    values (gen_random_uuid(), 'rescheduled', 'schedule', schedule.id, session_user,
      jsonb_build_object('nextRunAt', belfry.to_ms(schedule.next_run_at)),
      jsonb_build_object('nextRunAt', belfry.to_ms(next_run)));
    perform pg_notify('belfry', 'schedules');
    return jsonb_build_object('success', true, 'job_name', schedule.id, 'next_run', next_run);
  end
  $$;

  revoke execute on function belfry.journal_edit(), belfry.journal_deletion() from public;


  alter table belfry.workers add column roles text[] not null default '{}';
  alter table belfry.workers add column version text not null default '';
  alter table belfry.workers add column labels jsonb not null default '{}';
  alter table belfry.workers add column expected_by timestamptz;
  -- The number of the newest batch of statistics that was added.
  alter table belfry.workers add column batch bigint not null default 0;

  create table belfry.statistics (
    subject text collate "C" not null,
    span_ms bigint not null,
    at timestamptz not null,
    expires_at timestamptz not null,
    counters jsonb not null,
    primary key (subject, span_ms, at)
  );
  create index statistics_expires on belfry.statistics (expires_at);

  -- The sums of two sets of counters. A value that is not a number counts as 0.
  create function belfry.added_counters(a jsonb, b jsonb) returns jsonb language sql immutable set search_path = pg_catalog, pg_temp as $$
    select coalesce(jsonb_object_agg(counter.key, counter.sum), '{}')
    from (
      select c.key, sum(case when jsonb_typeof(c.value) = 'number' then c.value::numeric else 0 end) as sum
      from (select * from jsonb_each(a) union all select * from jsonb_each(b)) as c
      group by c.key
    ) as counter
  $$;


  create or replace function belfry.cancel_unfinished(schedule_id text) returns void language plpgsql
  set search_path = pg_catalog, pg_temp as $$
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
      -- Rows are locked in the order of their ids, so that two calls cannot deadlock.
      select u.id
      from belfry.runs as u
      where u.concurrency_key = 'schedule:' || cancel_unfinished.schedule_id
        and u.state in ('pending', 'running')
      order by u.id
      for update
    ) as unfinished
    where r.id = unfinished.id;
    if found then
      insert into belfry.deferred_ends (schedule_id, last_state, last_ended_at, last_success_at, failures_in_a_row)
      values (cancel_unfinished.schedule_id, 'cancelled', belfry.this_instant(), null, 0);
      perform pg_notify('belfry', 'cancelled');
    end if;
  end
  $$;


  create function belfry.due_2(up_to integer, divided integer, reader bigint, ahead_ms integer) returns table (read_at float8, next_at float8, next_count integer, unfinished json, id text, version bigint, revision integer, created_at float8, updated_at float8, declared_as text, task text, owner text, next_run_at float8, covered_until float8, overrides jsonb, paused jsonb, fired_count bigint, last_error text, finished_at float8, run_count bigint, last_run_id text, last_run_at float8, function text, description text, cron text, timezone text, payload jsonb, enabled boolean, priority integer, tags json, triggers jsonb, options jsonb, release bigint, unsettled jsonb, last_state text, last_ended_at float8, last_success_at float8, failures_in_a_row bigint)
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
    -- The table is unlogged: a crash of the server empties it.
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
  due_shares as materialized (
    select first.share, count(*) as due
    from first
    group by first.share
  ),
  others as materialized (
    select s.given_until, due_shares.due
    from due_shares
    join belfry.shares as s on s.share = due_shares.share
    where s.given_until > (select clock.now from clock)
      and s.given_to <> $3
  ),
  counted as materialized (
    select all_due.due,
      (select coalesce(sum(others.due), 0) from others) as due_of_others,
      greatest(100 + all_due.due * 0.2, least($4 / 2, 500))
        * interval '1 millisecond' as share_time
    from (select count(*) as due from first) as all_due
  ),
  free as materialized (
    select s.share
    from due_shares
    join belfry.shares as s on s.share = due_shares.share
    where s.given_to = $3
      or s.given_until <= (select clock.now from clock)
    order by due_shares.due desc
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
  taken_schedules as materialized (
    select first.id
    from first
    where first.share = any (array(select taken.share from taken))
    limit $1
  ),
  due as materialized (
    select s.*
    from taken_schedules
    join belfry.schedules as s on s.id = taken_schedules.id
  ),
  next as materialized (
    select min(s.next_run_at) as at
    from belfry.schedules as s
    where s.next_run_at > (select horizon.at from horizon)
  ),
  due_together as materialized (
    select count(*)::integer as size
    from (
      select 1
      from belfry.schedules as s
      where s.next_run_at = (select next.at from next)
      limit $1
    ) as same_instant
  ),
  read_again as materialized (
    select case
      when returned.count >= least($1, counted.due) then next.at
      -- The remaining schedules are free: read again at once.
      when returned.count > 0 and returned.count + counted.due_of_others < counted.due then clock.now
      -- Other processes have the remaining schedules: read again when these should have been fired.
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
    cross join (select count(*) as count from taken_schedules) as returned
  )
  select pg_catalog.date_part('epoch', clock.now) * 1000::float8,
    pg_catalog.date_part('epoch', read_again.at) * 1000::float8,
    case when read_again.at = next.at then due_together.size else 0 end,
    (
      select json_agg(json_build_array(u.id, u.state, u.attempt, u.failures, u.lost))
      from (
        -- By runs_key, one state at a time: both together would be sorted, and a schedule may have 10,000 pending runs. The
        -- longest due of these are the oldest.
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
    due.id, due.version, due.revision, pg_catalog.date_part('epoch', due.created_at) * 1000::float8, pg_catalog.date_part('epoch', due.updated_at) * 1000::float8, due.declared_as, due.task, due.owner, pg_catalog.date_part('epoch', due.next_run_at) * 1000::float8, pg_catalog.date_part('epoch', due.covered_until) * 1000::float8, due.overrides, due.paused, due.fired_count, due.last_error, pg_catalog.date_part('epoch', due.finished_at) * 1000::float8, (due.runs_fired + coalesce(c.run_count, 0)), case when c.last_run_at >= coalesce(due.last_fired_at, '-infinity') then c.last_run_id else due.last_fired_id end, pg_catalog.date_part('epoch', greatest(due.last_fired_at, c.last_run_at)) * 1000::float8, due.function, due.description, due.cron, due.timezone, due.payload, due.enabled, due.priority, pg_catalog.to_json(due.tags), due.triggers, due.options, due.release, due.unsettled, e.last_state, pg_catalog.date_part('epoch', e.last_ended_at) * 1000::float8, pg_catalog.date_part('epoch', e.last_success_at) * 1000::float8, coalesce(e.failures_in_a_row, 0)
  from clock
  cross join next
  cross join due_together
  cross join read_again
  left join due on true
  left join lateral (
    select one.*
    from belfry.counts as one
    where one.schedule_id = due.id
    limit 1
  ) as c on true
  left join lateral (
    select one.*
    from belfry.ends as one
    where one.schedule_id = due.id
    limit 1
  ) as e on true
  order by due.next_run_at;
  end
  $$;


  create function belfry.fire_2(text[], bigint[], boolean[], bigint[], bigint[], text[], text[], bigint[], text[], bigint[], integer[], text[], text[], text[], text[], integer[], text[], bigint[], text[], text[], text[], text[], text[], integer[], text[], bigint[], text[], text[], text[], bigint[], bigint[], text[], text[], bigint[]) returns table (plan bigint, is_applied boolean, is_current boolean, created json, is_sooner boolean)
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
    select * from (select u.id, coalesce(u.task, ($14::text[])[1]) as task, u.payload, coalesce(u.priority, ($16::integer[])[1]) as priority, u.schedule_id, u.scheduled_for, coalesce(u.triggered_by, ($19::text[])[1]) as triggered_by, u.trigger, u.missed, u.live_key, u.concurrency_key, u.concurrency_limit, u.retry, u.timeout_ms, u.reason, u.by_name, coalesce(u.state, ($29::text[])[1]) as state, u.delay_ms, u.not_before, u.message, u.parent_id, u.plan, u.place
    from unnest($13::text[], $14::text[], $15::text[], $16::integer[], $17::text[], $18::bigint[], $19::text[], $20::text[], $21::text[], $22::text[], $23::text[], $24::integer[], $25::text[], $26::bigint[], $27::text[], $28::text[], $29::text[], $30::bigint[], $31::bigint[], $32::text[], $33::text[], $34::bigint[]) with ordinality as u(id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger, missed, live_key, concurrency_key, concurrency_limit, retry, timeout_ms, reason, by_name, state, delay_ms, not_before, message, parent_id, plan, place)) as n
  ),
  current as (
    select plans.*, s.next_run_at as old_next_run_at
    from belfry.schedules as s
    join plans on plans.id = s.id and plans.if_version = s.version
    -- Rows are locked in the order of their ids, so that two calls cannot deadlock.
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
    where n.state = 'pending'
      and n.id not in (select known.id from known)
      -- Not a join: planned while few keys were held, a join reads all held keys for each new run.
      and (
        select true
        from belfry.runs as r
        where r.live_key = n.live_key
          and r.state in ('pending', 'running')
          and r.id <> n.id
        limit 1
      )
  ),
  applied as (
    select current.*,
      current.run_count - (
        select count(*)
        from known
        where known.plan = current.plan
          and known.state = 'pending'
      ) as new_run_count
    from current
    where current.plan not in (select held.plan from held)
  ),
  advanced as (
    update belfry.schedules as s
    set version = nextval('belfry.versions'),
      next_run_at = to_timestamp(applied.next_run_at / 1000.0),
      covered_until = to_timestamp(applied.covered_until / 1000.0),
      overrides = applied.overrides::jsonb,
      paused = applied.paused::jsonb,
      fired_count = applied.fired_count,
      last_error = applied.last_error,
      finished_at = to_timestamp(applied.finished_at / 1000.0),
      runs_fired = s.runs_fired + applied.new_run_count,
      last_fired_id = case
        when applied.new_run_count = 0 then s.last_fired_id
        when applied.new_run_count = applied.run_count then applied.last_run_id
        else (
          select n.id
          from new_runs as n
          where n.plan = applied.plan
            and n.state = 'pending'
            and n.id not in (select known.id from known)
          order by n.place desc
          limit 1
        )
      end,
      last_fired_at = case when applied.new_run_count > 0 then clock.now else s.last_fired_at end,
      unsettled = null
    from applied
    cross join clock
    where s.id = applied.id
      and not applied.is_removed
  ),
  removed as (
    delete from belfry.schedules as s
    using applied
    where s.id = applied.id
      and applied.is_removed
    -- For the trigger journal_deletion, which records only deletions by SQL.
    returning set_config('belfry_engine.deleted', concat(current_setting('belfry_engine.deleted', true), ' ', s.id, ' '), true)
  ),
  created as (
    insert into belfry.runs (
    id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger, missed, live_key, concurrency_key,
    concurrency_limit, retry, timeout_ms, reason, by_name, state, claimable_at, created_at, completed_at, message,
    parent_id)
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
    n.message,
    n.parent_id
    from new_runs as n
    cross join clock
    where n.plan in (select applied.plan from applied)
      and n.id not in (select known.id from known)
    order by n.place
    returning id
  ),
  created_by_plan as (
    select n.plan, json_agg(n.id) as ids
    from new_runs as n
    join created using (id)
    group by n.plan
  )
  select plans.plan,
    applied.plan is not null,
    current.plan is not null,
    created_by_plan.ids,
    -- An ordinary fire needs no hint: listeners have read the schedule's next run. A fire that makes it due sooner needs one.
    to_timestamp(applied.next_run_at / 1000.0) < coalesce(applied.old_next_run_at, 'infinity')
  from plans
  left join applied on applied.plan = plans.plan
  left join current on current.plan = plans.plan
  left join created_by_plan on created_by_plan.plan = plans.plan
  order by plans.plan;
  end
  $$;


  create function belfry.add_2(text[], text[], text[], integer[], text[], bigint[], text[], text[], text[], text[], text[], integer[], text[], bigint[], text[], text[], text[], bigint[], bigint[], text[], text[]) returns table (are_all_new boolean, run_id text)
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
    concurrency_limit, retry, timeout_ms, reason, by_name, state, claimable_at, created_at, completed_at, message,
    parent_id)
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
    n.message,
    n.parent_id
        from (select u.id, coalesce(u.task, ($2::text[])[1]) as task, u.payload, coalesce(u.priority, ($4::integer[])[1]) as priority, u.schedule_id, u.scheduled_for, coalesce(u.triggered_by, ($7::text[])[1]) as triggered_by, u.trigger, u.missed, u.live_key, u.concurrency_key, u.concurrency_limit, u.retry, u.timeout_ms, u.reason, u.by_name, coalesce(u.state, ($17::text[])[1]) as state, u.delay_ms, u.not_before, u.message, u.parent_id, u.place
    from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::integer[], $13::text[], $14::bigint[], $15::text[], $16::text[], $17::text[], $18::bigint[], $19::bigint[], $20::text[], $21::text[]) with ordinality as u(id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger, missed, live_key, concurrency_key, concurrency_limit, retry, timeout_ms, reason, by_name, state, delay_ms, not_before, message, parent_id, place)) as n;
        if $5 is not null then
          
    insert into belfry.counts as c (schedule_id, run_count, last_run_id, last_run_at)
    select new_run.schedule_id, count(*), (array_agg(new_run.id))[count(*)], this_instant
    from (select n.* from (select u.id, coalesce(u.task, ($2::text[])[1]) as task, u.payload, coalesce(u.priority, ($4::integer[])[1]) as priority, u.schedule_id, u.scheduled_for, coalesce(u.triggered_by, ($7::text[])[1]) as triggered_by, u.trigger, u.missed, u.live_key, u.concurrency_key, u.concurrency_limit, u.retry, u.timeout_ms, u.reason, u.by_name, coalesce(u.state, ($17::text[])[1]) as state, u.delay_ms, u.not_before, u.message, u.parent_id, u.place
    from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::integer[], $13::text[], $14::bigint[], $15::text[], $16::text[], $17::text[], $18::bigint[], $19::bigint[], $20::text[], $21::text[]) with ordinality as u(id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger, missed, live_key, concurrency_key, concurrency_limit, retry, timeout_ms, reason, by_name, state, delay_ms, not_before, message, parent_id, place)) as n order by n.place) as new_run
    where new_run.schedule_id is not null
      and new_run.state = 'pending'
    group by new_run.schedule_id
    order by new_run.schedule_id
    on conflict (schedule_id) do update
    set run_count = c.run_count + excluded.run_count,
      last_run_id = excluded.last_run_id,
      last_run_at = excluded.last_run_at;
        end if;
        are_all_new := true;
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
    concurrency_limit, retry, timeout_ms, reason, by_name, state, claimable_at, created_at, completed_at, message,
    parent_id)
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
    n.message,
    n.parent_id
      from (select u.id, coalesce(u.task, ($2::text[])[1]) as task, u.payload, coalesce(u.priority, ($4::integer[])[1]) as priority, u.schedule_id, u.scheduled_for, coalesce(u.triggered_by, ($7::text[])[1]) as triggered_by, u.trigger, u.missed, u.live_key, u.concurrency_key, u.concurrency_limit, u.retry, u.timeout_ms, u.reason, u.by_name, coalesce(u.state, ($17::text[])[1]) as state, u.delay_ms, u.not_before, u.message, u.parent_id, u.place
    from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::integer[], $13::text[], $14::bigint[], $15::text[], $16::text[], $17::text[], $18::bigint[], $19::bigint[], $20::text[], $21::text[]) with ordinality as u(id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger, missed, live_key, concurrency_key, concurrency_limit, retry, timeout_ms, reason, by_name, state, delay_ms, not_before, message, parent_id, place)) as n
      order by n.place
      on conflict do nothing
      returning id, schedule_id, state
    ),
    counted as (
      
    insert into belfry.counts as c (schedule_id, run_count, last_run_id, last_run_at)
    select new_run.schedule_id, count(*), (array_agg(new_run.id))[count(*)], this_instant
    from (select * from created) as new_run
    where new_run.schedule_id is not null
      and new_run.state = 'pending'
    group by new_run.schedule_id
    order by new_run.schedule_id
    on conflict (schedule_id) do update
    set run_count = c.run_count + excluded.run_count,
      last_run_id = excluded.last_run_id,
      last_run_at = excluded.last_run_at
    )
    select false, created.id
    from created;
  end
  $$;


  create function belfry.claim_2(for_worker text, of_tasks text[], leases_ms bigint[], up_to integer) returns table (summary json, number bigint, id text, task text, payload jsonb, priority integer, schedule_id text, scheduled_for float8, triggered_by text, trigger text, live_key text, concurrency_key text, concurrency_limit integer, attempt integer, created_at float8, due_at float8, rest json)
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
    waiting constant text := 'pending';
    this_instant timestamptz;
    row_ids tid[];
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
      select found.row_id, found.is_limited
      from queues as q
      cross join lateral (
        select r.ctid as row_id, r.priority, r.claimable_at, r.concurrency_limit is not null and r.concurrency_key is not null as is_limited
        from belfry.runs as r
        where r.state = q.state
          and r.task = q.task
          and r.priority = q.priority
          and r.claimable_at <= this_instant
          and (r.concurrency_limit is null or r.concurrency_key is null or (
            select key.running < r.concurrency_limit
              and (
                r.state = 'running'
                or least(r.concurrency_limit - key.running, up_to) > (
                  select count(*)
                  from (
                    select 1
                    from belfry.runs as earlier
                    where earlier.concurrency_key = r.concurrency_key
                      and earlier.state = waiting
                      and earlier.state in ('pending', 'running')
                      and (earlier.claimable_at, earlier.id) < (r.claimable_at, r.id)
                      and earlier.task = any (of_tasks)
                      and earlier.priority = r.priority
                      and coalesce(earlier.concurrency_limit > key.running, true)
                    limit least(r.concurrency_limit - key.running, up_to)
                  ) as counted
                )
              )
            from (select count(*) as running
              from belfry.runs as other
              where other.concurrency_key = r.concurrency_key
                and other.state = 'running'
                and other.state in ('pending', 'running')
                and other.id <> r.id) as key
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
    select array_agg(due.row_id), bool_or(due.is_limited), count(*), (select pg_catalog.date_part('epoch', next.at) * 1000::float8 from next)
    into row_ids, is_limited, due_count, next_at
    from due;
    
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
            case when r.concurrency_limit is not null and r.concurrency_key is not null then (select count(*) as running
              from belfry.runs as other
              where other.concurrency_key = r.concurrency_key
                and other.state = 'running'
                and other.state in ('pending', 'running')
                and other.id <> r.id) end as running,
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
    end if;
    summary := json_build_array(pg_catalog.date_part('epoch', this_instant) * 1000::float8, due_count, next_at);
    return next;
    return query
  update belfry.runs as r
    set state = 'running',
      -- A count that was written by SQL directly, without our checks, must not fail the whole claim.
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
    from unnest(row_ids, slots, numbers) with ordinality as due(row_id, slot, number, ordinal)
    where r.ctid = due.row_id
    returning null::json, coalesce(due.number, due.ordinal), r.id, r.task, r.payload, r.priority, r.schedule_id, pg_catalog.date_part('epoch', r.scheduled_for) * 1000::float8, r.triggered_by, r.trigger, r.live_key, r.concurrency_key, r.concurrency_limit, r.attempt, pg_catalog.date_part('epoch', r.created_at) * 1000::float8, pg_catalog.date_part('epoch', r.due_at) * 1000::float8, case
      when pg_catalog.num_nonnulls(r.missed, r.retry, r.timeout_ms, r.reason, r.by_name, r.message, r.details, r.error, r.parent_id, r.attempts, r.outcome) > 0 or r.failures > 0 or r.lost > 0
      then pg_catalog.json_build_array(r.missed, r.retry, r.timeout_ms, r.reason, r.by_name, r.message, r.details, r.error, r.parent_id, r.failures, r.lost, case
      when r.outcome is null then r.attempts
      else belfry.with_attempt(
        r.attempts, r.attempt, r.worker_id, r.due_at, r.started_at, r.ended_at, r.outcome, r.error
      )
    end)
    end;
  end
  $$;


  create function belfry.extend_2(text[], integer[], bigint[], text[], lock_wait_ms integer) returns table (extended_at timestamptz, run_id text)
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
    perform set_config('lock_timeout', greatest(lock_wait_ms, 1)::text, true);
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


  create function belfry.change_2(text[], text[], integer[], text[], bigint[], integer[], integer[], text[], text[], text[], text[], text[], text[], text[], places integer[], is_in_transaction boolean) returns table (is_awaited boolean, changed json)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set lock_timeout = '500ms'
  set jit = off
  set enable_seqscan = off
  set plan_cache_mode = force_generic_plan
  as $$
  #variable_conflict use_column
  declare
    waiting constant text := 'pending';
  begin
    
    return query
  with clock as materialized (select pg_catalog.date_trunc('milliseconds', pg_catalog.clock_timestamp()) as now),
  changed as (
    update belfry.runs as r
    set state = c.state,
      -- A run that is pending again without a delay keeps its place in the queue.
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
      r.schedule_id,
      r.state,
      c.place,
      -- Whether another run waits for this run's key. Usually none does, and no hint is needed. By runs_key: the state is a
      -- variable, so that runs_pending can't serve, in which every pending run would be read.
      r.concurrency_limit is not null and exists (
        select 1
        from belfry.runs as other
        where other.concurrency_key = r.concurrency_key
          and other.state = waiting
          and other.state in ('pending', 'running')
      ) as is_awaited
  ),
  -- The finished runs, with their positions in the call. Ends are not stored for a schedule that has been deleted.
  ended as materialized (
    select changed.schedule_id, changed.state, ($15)[changed.place] as number
    from changed
    where changed.schedule_id is not null
      and changed.state in ('succeeded', 'failed', 'cancelled')
      and exists (select 1 from belfry.schedules as s where s.id = changed.schedule_id)
  ),
  by_schedule as materialized (
    select ended.schedule_id,
      (array_agg(ended.state order by ended.number desc))[1] as last_state,
      max(ended.number) filter (where ended.state = 'succeeded') as success
    from ended
    group by ended.schedule_id
  ),
  ends_by_schedule as materialized (
    select b.schedule_id,
      b.last_state,
      clock.now as last_ended_at,
      case when b.success is not null then clock.now end as last_success_at,
      (
        select count(*)
        from ended
        where ended.schedule_id = b.schedule_id
          and ended.state = 'failed'
          and ended.number > coalesce(b.success, -1)
      ) as failures_in_a_row
    from by_schedule as b, clock
    -- Rows are locked in the order of their ids, so that two calls cannot deadlock.
    order by b.schedule_id
  ),
  stored as (
    insert into belfry.ends as e (schedule_id, last_state, last_ended_at, last_success_at, failures_in_a_row)
    select schedule_id, last_state, last_ended_at, last_success_at, failures_in_a_row
    from ends_by_schedule
    where not $16
    
    on conflict (schedule_id) do update
    set last_state = excluded.last_state,
      last_ended_at = excluded.last_ended_at,
      last_success_at = coalesce(excluded.last_success_at, e.last_success_at),
      failures_in_a_row = excluded.failures_in_a_row
        + case when excluded.last_success_at is null then e.failures_in_a_row else 0 end
  ),
  deferred as (
    insert into belfry.deferred_ends (schedule_id, last_state, last_ended_at, last_success_at, failures_in_a_row)
    select schedule_id, last_state, last_ended_at, last_success_at, failures_in_a_row
    from ends_by_schedule
    where $16
  )
  select bool_or(changed.is_awaited),
    case when count(*) < cardinality($1) then to_json(coalesce(array_agg(changed.id), '{}')) end
  from changed;
  end
  $$;


  create function belfry.prune_2(older_than_ms bigint, up_to bigint, keep_per_schedule bigint, after_at bigint, after_id text, batch_size integer) returns table (deleted bigint, run_id text, completed_at timestamptz)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set lock_timeout = '4s'
  set jit = off
  set enable_seqscan = off
  set plan_cache_mode = force_generic_plan
  set enable_hashjoin = off
  set enable_mergejoin = off
  set enable_sort = off
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
          -- Makes the planner choose runs_schedule_completed, also if the table is empty when it plans.
          order by newer.completed_at desc
          limit $3
        ) as newer_runs
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
  prunable as (
    select r.id
    from page
    join belfry.runs as r on r.id = page.id
    where not page.is_kept
    order by page.completed_at, page.id
    limit $2
    -- A run that another transaction has locked is in use. A later call prunes it.
    for update of r skip locked
  ),
  deleted as (
    delete from belfry.runs as r
    using prunable
    where r.id = prunable.id
      and r.completed_at is not null
    returning r.id
  ),
  deleted_lines as (
    delete from belfry.logs as l
    using deleted
    where l.run_id = deleted.id
  )
  select (select count(*) from deleted), page.id, page.completed_at
  from (select 1) as one_row
  left join page on true
  order by page.completed_at, page.id;
  end
  $$;
`
