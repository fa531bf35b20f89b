/**
 * The journal. A trigger records schedules that are written by SQL directly. It can't compare `old.version` with
 * `new.version` as the trigger before the write does, because that trigger has set a new version by then. So `edited_version`
 * marks the row.
 */
export const JOURNAL = `
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
`
