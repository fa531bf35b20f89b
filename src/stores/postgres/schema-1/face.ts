import { JSON_DEPTH_MAX, JSON_KEYS_MAX, PAYLOAD_MAX_BYTES } from "../../../core/json.ts"
import { TAGS_MAX } from "../../../core/limits.ts"
import { PINNED } from "./tables.ts"
import { VIEWS } from "./views.ts"

/** With the rights of Belfry's owner; `session_user` is still the caller. */
const AS_OWNER = `security definer ${PINNED}`

/** What a plan depends on, beside how far it has come. */
const EDITED_COLUMNS = "{task,function,payload,cron,timezone,enabled,priority,triggers,options,paused}"
/** How many edits are told apart. */
const EDITS_MAX = 20

/**
 * What an integrator with nothing but SQL has: schedules are rows, operations are functions, and what happened is in two
 * views. A running Belfry is told of every change by the transaction that made it.
 */
export const SQL_FACE = `
  create function belfry.this_instant() returns timestamptz language sql volatile ${PINNED} as $$
    select date_trunc('milliseconds', clock_timestamp())
  $$;

  create function belfry.to_ms(at timestamptz) returns bigint language sql immutable ${PINNED} as $$
    select round(extract(epoch from at) * 1000)::bigint
  $$;

  -- One more edit. Of very many that nobody has looked at, the last ones are one: what was before them, until now.
  create function belfry.with_edit(edits jsonb, edit jsonb) returns jsonb language sql immutable ${PINNED} as $$
    select case
      when edits is null then jsonb_build_array(edit)
      when jsonb_array_length(edits) < ${EDITS_MAX} then edits || edit
      else jsonb_set(edits, '{-1}', (edits -> -1) || edit
        || jsonb_build_object('was', (edit -> 'was') || (edits -> -1 -> 'was')))
    end
  $$;

  -- What the next plan has to know of a change: the old values of what a plan depends on, and what was asked for.
  create function belfry.edit_between(old belfry.schedules, new belfry.schedules, at timestamptz)
  returns jsonb language plpgsql ${PINNED} as $$
  declare
    was jsonb;
    is_asked boolean := new.next_run_at is distinct from old.next_run_at;
  begin
    select coalesce(jsonb_object_agg(o.key, o.value), '{}') into was
    from jsonb_each(to_jsonb(old)) as o
    where o.key = any ('${EDITED_COLUMNS}')
      and o.value is distinct from to_jsonb(new) -> o.key;
    if was = '{}' and not is_asked then
      return null;
    end if;
    return jsonb_build_object('at', belfry.to_ms(at), 'by', session_user, 'was', was)
      || case when is_asked then jsonb_build_object('nextRunAt', belfry.to_ms(new.next_run_at)) else '{}' end;
  end
  $$;

  -- The bounds of schedules.create. The table's own are wider, for those who write a store's records.
  create function belfry.check_texts(schedule belfry.schedules) returns void language plpgsql ${PINNED} as $$
  begin
    if schedule.task !~ '^[A-Za-z0-9_.:/-]{1,200}$' then
      raise exception 'Schedule "%" has the task "%": use 1 to 200 letters, digits, "_", "-", ".", ":" and "/".', schedule.id,
        left(schedule.task, 80);
    end if;
    if char_length(schedule.description) > 4000 then
      raise exception 'The description of schedule "%" has more than 4000 characters.', schedule.id;
    end if;
    if cardinality(schedule.tags) > ${TAGS_MAX}
      or exists (select 1 from unnest(schedule.tags) as t(tag) where char_length(tag) not between 1 and 100) then
      raise exception 'The tags of schedule "%" have to be at most ${TAGS_MAX}, of 1 to 100 characters each.', schedule.id;
    end if;
    if char_length(schedule.owner) not between 1 and 200 then
      raise exception 'The owner of schedule "%" has to have 1 to 200 characters.', schedule.id;
    end if;
  end
  $$;

  -- What a payload may be, whoever gives it. Only here: a constraint would read it at every fire.
  create function belfry.check_payload(schedule belfry.schedules) returns void language plpgsql ${PINNED} as $$
  begin
    if octet_length(schedule.payload::text) > ${PAYLOAD_MAX_BYTES} then
      raise exception 'The payload of schedule "%" has more than ${PAYLOAD_MAX_BYTES} bytes.', schedule.id;
    end if;
    if jsonb_path_exists(
      schedule.payload, 'strict $.**{${JSON_DEPTH_MAX} to last} ? (@.type() == "object" || @.type() == "array")'
    ) then
      raise exception 'The payload of schedule "%" is nested deeper than ${JSON_DEPTH_MAX} levels.', schedule.id;
    end if;
    if (
      select count(*)
      from jsonb_path_query(schedule.payload, 'strict $.** ? (@.type() == "object").keyvalue()')
    ) > ${JSON_KEYS_MAX} then
      raise exception 'The payload of schedule "%" has more than ${JSON_KEYS_MAX} keys.', schedule.id;
    end if;
  end
  $$;

  -- What no plan could make sense of is refused at once; what only a plan can tell is shown in last_error.
  create function belfry.check_by_hand(schedule belfry.schedules) returns void language plpgsql ${PINNED} as $$
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
    if not isfinite(schedule.next_run_at) then
      raise exception 'Schedule "%" can''t have its next run at %: write an instant.', schedule.id, schedule.next_run_at;
    end if;
    perform belfry.check_texts(schedule);
    perform belfry.check_payload(schedule);
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

  -- Rows written by hand: Belfry's own writes take a new version themselves, and never come here. The writer needs no right but
  -- that to the table.
  create function belfry.written_by_hand() returns trigger language plpgsql ${AS_OWNER} as $$
  declare
    at timestamptz := belfry.this_instant();
    edit jsonb;
  begin
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

  create function belfry.deleted() returns trigger language plpgsql ${AS_OWNER} as $$
  begin
    delete from belfry.counts as c where c.schedule_id = old.id;
    perform pg_notify(tg_table_schema, 'schedules');
    return null;
  end
  $$;
  -- For each row: a fire deletes schedules that are finished, and nearly always there are none.
  create trigger deleted after delete on belfry.schedules
    for each row execute function belfry.deleted();

  create function belfry.schedule_named(id text, is_changed boolean) returns belfry.schedules language plpgsql ${PINNED} as $$
  declare
    found_one belfry.schedules;
  begin
    if schedule_named.id is null then
      raise exception 'The schedule''s id is missing.' using errcode = 'null_value_not_allowed';
    end if;
    -- Whoever only triggers it is in nobody's way, however long the transaction lasts.
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

  -- One run now; the next occurrence is untouched. The run takes the schedule's options along as they are written: durations and
  -- the rules of retries are understood by whoever reads the run.
  create function belfry.trigger(id text, payload jsonb default null) returns jsonb language plpgsql ${AS_OWNER} as $$
  declare
    schedule belfry.schedules := belfry.schedule_named(id, is_changed => false);
    options jsonb := schedule.options;
    own jsonb := coalesce(trigger.payload, schedule.payload);
    policy text := case jsonb_typeof(options -> 'overlap')
      when 'object' then options -> 'overlap' ->> 'policy'
      else options ->> 'overlap'
    end;
    holder text;
    new_id text := schedule.id || '+' || gen_random_uuid();
  begin
    insert into belfry.runs (id, task, payload, priority, schedule_id, triggered_by, trigger, live_key, concurrency_key,
      concurrency_limit, retry, by_name, state, claimable_at)
    values (new_id, schedule.task,
      case
        when schedule.function is null then own
        when own is null then jsonb_build_object('function', schedule.function)
        else jsonb_build_object('function', schedule.function, 'payload', own)
      end,
      schedule.priority, schedule.id, 'manual', 'manual',
      case when coalesce(policy, 'skip') not in ('queue', 'replace', 'allow') then 'schedule:' || schedule.id end,
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
  returns jsonb language plpgsql ${AS_OWNER} as $$
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

  create function belfry.resume(id text) returns jsonb language plpgsql ${AS_OWNER} as $$
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
  create function belfry.reschedule(id text, at timestamptz) returns jsonb language plpgsql ${AS_OWNER} as $$
  declare
    schedule belfry.schedules := belfry.schedule_named(id, is_changed => true);
    next_run timestamptz := date_trunc('milliseconds', reschedule.at);
  begin
    if next_run is null then
      raise exception 'Schedule "%" can''t be rescheduled: the time is missing.', schedule.id
        using errcode = 'null_value_not_allowed';
    end if;
    if next_run < belfry.this_instant() then
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
    update belfry.schedules as s
    set next_run_at = next_run
    where s.id = schedule.id;
    return jsonb_build_object('success', true, 'job_name', schedule.id, 'next_run', next_run);
  end
  $$;

  -- A run of any task. While an unfinished run has the key, no other is made.
  create function belfry.enqueue(
    task text, payload jsonb default null, delay interval default '0', priority integer default 0, key text default null
  ) returns jsonb language plpgsql ${AS_OWNER} as $$
  declare
    new_id text := gen_random_uuid();
    holder text;
  begin
    insert into belfry.runs (id, task, payload, priority, triggered_by, live_key, by_name, state, claimable_at)
    values (new_id, enqueue.task, enqueue.payload, enqueue.priority, 'api', 'key:' || enqueue.key, session_user, 'pending',
      date_trunc('milliseconds', belfry.this_instant() + delay))
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

  ${VIEWS}
`
