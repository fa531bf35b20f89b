/**
 * What an integrator with nothing but SQL has: schedules are rows, operations are functions, and what happened is in two
 * views. A running Belfry is told of every change by the transaction that made it.
 */
export const SQL_FACE = `
  -- A schedule's run for one instant, by the name it has everywhere.
  create function belfry.run_id(schedule_id text, at timestamptz) returns text language sql immutable as $$
    select schedule_id || '@' || to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
      || case when to_char(at, 'MS') = '000' then '' else '.' || to_char(at, 'MS') end || 'Z'
  $$;

  create function belfry.this_instant() returns timestamptz language sql volatile as $$
    select date_trunc('milliseconds', clock_timestamp())
  $$;

  create function belfry.to_ms(at timestamptz) returns bigint language sql immutable as $$
    select round(extract(epoch from at) * 1000)::bigint
  $$;

  -- Rows written by hand: Belfry's own writes take a new version themselves, and never come here.
  create function belfry.written_by_hand() returns trigger language plpgsql as $$
  declare
    at timestamptz := belfry.this_instant();
    is_planned_anew boolean := true;
  begin
    if new.function is not null and (new.task is null or tg_op = 'INSERT') then
      new.task := 'sql';
    end if;
    new.version := nextval('belfry.versions');
    new.updated_at := at;
    perform pg_notify(tg_table_schema, 'schedules');
    if tg_op = 'INSERT' and new.id !~ '^[A-Za-z0-9_-]{1,200}$' then
      raise exception 'Schedule id "%" is not valid: use 1 to 200 letters, digits, "_" and "-".', left(new.id, 80);
    end if;
    if tg_op = 'UPDATE' then
      if (new.id, new.created_at) is distinct from (old.id, old.created_at) then
        raise exception 'The id of a schedule, and when it was made, can''t be changed. Insert another one.';
      end if;
      new.revision := old.revision + 1;
      is_planned_anew := (new.cron, new.timezone, new.triggers, new.options, new.enabled)
        is distinct from (old.cron, old.timezone, old.triggers, old.options, old.enabled)
        or new.next_run_at is null and old.finished_at is null and old.paused is null;
      if not is_planned_anew and new.next_run_at is distinct from old.next_run_at then
        new.overrides := belfry.moved(old, new.next_run_at);
      end if;
      if is_planned_anew and old.enabled and old.paused is null and old.next_run_at <= at then
        -- It was due and nobody had come yet: the change takes it away, and the ledger says so.
        insert into belfry.runs (id, task, priority, schedule_id, scheduled_for, triggered_by, concurrency_key, reason,
          by_name, state, created_at, completed_at, message)
        values (belfry.run_id(old.id, old.next_run_at), old.task, old.priority, old.id, old.next_run_at, 'schedule',
          'schedule:' || old.id, 'operator', session_user, 'skipped', at, at, 'Changed by SQL before it fired')
        on conflict do nothing;
      end if;
    end if;
    -- Due at once and never planned: whoever comes first plans it from now, and fires nothing.
    if is_planned_anew and new.paused is null and (tg_op = 'UPDATE' or new.next_run_at is null) then
      new.next_run_at := case when new.enabled then at end;
      new.covered_until := null;
      new.overrides := '[]';
      new.last_error := null;
      new.finished_at := null;
    elsif tg_op = 'INSERT' and new.next_run_at is not null then
      -- Brought along from elsewhere: everything before it is settled there.
      new.covered_until := coalesce(new.covered_until, new.next_run_at - interval '1 millisecond');
    end if;
    return new;
  end
  $$;

  create trigger inserted_by_hand before insert on belfry.schedules
    for each row when (new.version = 0) execute function belfry.written_by_hand();
  create trigger updated_by_hand before update on belfry.schedules
    for each row when (new.version = old.version) execute function belfry.written_by_hand();

  create function belfry.deleted() returns trigger language plpgsql as $$
  begin
    perform pg_notify(tg_table_schema, 'schedules');
    return null;
  end
  $$;
  -- For each row: a fire deletes schedules that are finished, and nearly always there are none.
  create trigger deleted after delete on belfry.schedules
    for each row execute function belfry.deleted();

  -- The next occurrence at another time; it keeps its identity.
  create function belfry.moved(schedule belfry.schedules, at timestamptz) returns jsonb language plpgsql as $$
  declare
    due_ms bigint := belfry.to_ms(schedule.next_run_at);
    nominal_ms bigint;
  begin
    if schedule.next_run_at is null then
      raise exception 'Schedule "%" has no next occurrence to move.', schedule.id;
    end if;
    if coalesce((schedule.options ->> 'jitterMs')::bigint, 0) > 0 then
      raise exception 'Schedule "%" has jitter: move its occurrence with belfry schedule move.', schedule.id;
    end if;
    select coalesce(min((o ->> 'scheduledFor')::bigint), due_ms) into nominal_ms
    from jsonb_array_elements(schedule.overrides) as o
    where (o ->> 'dueAt')::bigint = due_ms;
    return (
      select coalesce(jsonb_agg(o), '[]')
      from jsonb_array_elements(schedule.overrides) as o
      where (o ->> 'scheduledFor')::bigint <> nominal_ms
    ) || jsonb_build_object(
      'scheduledFor', nominal_ms, 'dueAt', belfry.to_ms(at), 'reason', 'Moved by SQL', 'by', session_user
    );
  end
  $$;

  create function belfry.schedule_named(id text) returns belfry.schedules language plpgsql as $$
  declare
    found_one belfry.schedules;
  begin
    select s.* into found_one from belfry.schedules as s where s.id = schedule_named.id for update;
    if found_one.id is null then
      raise exception 'There is no schedule "%".', schedule_named.id using errcode = 'no_data_found';
    end if;
    return found_one;
  end
  $$;

  -- One run now; the next occurrence is untouched.
  create function belfry.trigger(id text, payload jsonb default null) returns jsonb language plpgsql as $$
  declare
    schedule belfry.schedules := belfry.schedule_named(id);
    own jsonb := coalesce(trigger.payload, schedule.payload);
    policy text := coalesce(schedule.options -> 'overlap' ->> 'policy', 'skip');
    holder text;
    new_id text := schedule.id || '+' || gen_random_uuid();
  begin
    insert into belfry.runs (id, task, payload, priority, schedule_id, triggered_by, trigger, live_key, concurrency_key,
      concurrency_limit, retry, timeout_ms, by_name, state, claimable_at)
    values (new_id, schedule.task,
      case when schedule.function is null then own else jsonb_build_object('function', schedule.function, 'payload', own) end,
      schedule.priority, schedule.id, 'manual', 'manual',
      case when policy = 'skip' then 'schedule:' || schedule.id end,
      'schedule:' || schedule.id,
      coalesce((schedule.options ->> 'maxConcurrentRuns')::integer, case when policy = 'allow' then null else 1 end),
      nullif(schedule.options -> 'retry', 'null'), (schedule.options ->> 'timeoutMs')::bigint,
      session_user, 'pending', belfry.this_instant())
    on conflict do nothing;
    if not found then
      select r.id into holder from belfry.runs as r
      where r.live_key = 'schedule:' || schedule.id and r.state in ('pending', 'running');
      return jsonb_build_object('success', false, 'run_id', holder, 'job_name', schedule.id,
        'message', 'Still unfinished: ' || coalesce(holder, 'another run'));
    end if;
    perform pg_notify('belfry', 'runs');
    return jsonb_build_object('success', true, 'run_id', new_id, 'job_name', schedule.id);
  end
  $$;

  create function belfry.pause(id text, reason text default null, until timestamptz default null)
  returns jsonb language plpgsql as $$
  declare
    schedule belfry.schedules := belfry.schedule_named(id);
    at timestamptz := belfry.this_instant();
  begin
    if until <= at then
      raise exception 'Schedule "%" can''t be paused until %: that is not in the future.', schedule.id, until;
    end if;
    update belfry.schedules as s
    set version = nextval('belfry.versions'),
      next_run_at = until,
      paused = jsonb_build_object('at', coalesce((s.paused ->> 'at')::bigint, belfry.to_ms(at)), 'until', belfry.to_ms(until),
        'reason', reason, 'by', session_user)
    where s.id = schedule.id;
    perform pg_notify('belfry', 'schedules');
    return jsonb_build_object('success', true, 'job_name', schedule.id);
  end
  $$;

  -- The pause ends now: whoever comes first records what fell into it, and goes on from here.
  create function belfry.resume(id text) returns jsonb language plpgsql as $$
  declare
    schedule belfry.schedules := belfry.schedule_named(id);
    at timestamptz := belfry.this_instant();
  begin
    if schedule.paused is null then
      return jsonb_build_object('success', true, 'job_name', schedule.id, 'message', 'It was not paused');
    end if;
    update belfry.schedules as s
    set version = nextval('belfry.versions'),
      next_run_at = at,
      paused = s.paused || jsonb_build_object('until', belfry.to_ms(at))
    where s.id = schedule.id;
    perform pg_notify('belfry', 'schedules');
    return jsonb_build_object('success', true, 'job_name', schedule.id);
  end
  $$;

  -- The next occurrence at another time, and then on by its cron.
  create function belfry.reschedule(id text, at timestamptz) returns jsonb language plpgsql as $$
  declare
    schedule belfry.schedules := belfry.schedule_named(id);
  begin
    if at < belfry.this_instant() then
      raise exception 'Schedule "%" can''t be rescheduled to %: that is in the past.', schedule.id, at;
    end if;
    update belfry.schedules as s
    set next_run_at = date_trunc('milliseconds', reschedule.at)
    where s.id = schedule.id;
    return jsonb_build_object('success', true, 'job_name', schedule.id, 'next_run', date_trunc('milliseconds', at));
  end
  $$;

  -- A run of any task. While an unfinished run has the key, no other is made.
  create function belfry.enqueue(
    task text, payload jsonb default null, delay interval default '0', priority integer default 0, key text default null
  ) returns jsonb language plpgsql as $$
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

  -- One row for each schedule. The rate is of the runs that are still stored and that ended by themselves.
  create view belfry.schedule_status as
  select s.id as name,
    s.description,
    s.enabled and s.paused is null as enabled,
    s.cron,
    s.timezone,
    last.started_at as last_run,
    last.state = 'succeeded' as last_run_success,
    last.message as last_run_message,
    s.run_count as total_runs,
    (
      select round(100.0 * count(*) filter (where r.state = 'succeeded') / nullif(count(*), 0), 1)
      from belfry.runs as r
      where r.schedule_id = s.id
        and r.state in ('succeeded', 'failed')
    ) as success_rate_percent,
    case when s.enabled and s.paused is null and s.covered_until is not null then s.next_run_at end as next_run,
    s.last_error
  from belfry.schedules as s
  left join lateral (
    select r.started_at, r.state, r.message
    from belfry.runs as r
    where r.schedule_id = s.id
      and r.completed_at is not null
      and r.state in ('succeeded', 'failed')
    order by r.completed_at desc
    limit 1
  ) as last on true;

  -- One row for each run: what was asked for, when it began and ended, who performed it, and how late it began.
  create view belfry.run_history as
  select r.id as run_id,
    r.schedule_id as job_name,
    r.task,
    r.state,
    r.scheduled_for,
    r.started_at,
    r.completed_at,
    round(extract(epoch from r.completed_at - r.started_at) * 1000)::bigint as duration_ms,
    case when r.state = 'succeeded' then true when r.state in ('failed', 'cancelled') then false end as success,
    coalesce(r.message, r.error) as message,
    r.details,
    case r.triggered_by when 'schedule' then 'scheduler' else r.triggered_by end as triggered_by,
    r.worker_id as performed_by,
    round(extract(epoch from r.started_at - r.scheduled_for) * 1000)::bigint as late_ms,
    r.attempt as attempts,
    r.error,
    r.reason
  from belfry.runs as r;
`
