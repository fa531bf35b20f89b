import { KEY_MAX } from "../../../core/limits.ts"
import { UNFINISHED_FACTS_MAX } from "../../../core/plan.ts"
import { QUEUE_MAX } from "../../../core/policies.ts"
import { REPLACED_BY_HAND } from "../../../core/run.ts"
import { storyOf } from "../run-rows.ts"
import { AS_OWNER, PINNED } from "./tables.ts"

/** What people do with a schedule or a task, as functions. */
export const OPERATIONS = `
  create function belfry.schedule_named(id text, is_changed boolean) returns belfry.schedules language plpgsql ${PINNED} as $$
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
  create function belfry.queue_room(options jsonb) returns integer language sql immutable ${PINNED} as $$
    select case
      when coalesce(options -> 'overlap' ->> 'policy', options ->> 'overlap') = 'queue'
      then least(
        ${UNFINISHED_FACTS_MAX},
        case when options -> 'maxConcurrentRuns' between '1' and '2147483647'
          then trunc((options ->> 'maxConcurrentRuns')::numeric) else 1 end
        + case
          when options -> 'overlap' -> 'limit' between '1' and '${QUEUE_MAX}'
          then trunc((options -> 'overlap' ->> 'limit')::numeric)
          when coalesce(options -> 'catchUp' ->> 'policy', options ->> 'catchUp') is distinct from 'all' then 1
          when options -> 'catchUp' -> 'limit' between '1' and '${QUEUE_MAX}'
          then trunc((options -> 'catchUp' ->> 'limit')::numeric)
          else ${QUEUE_MAX}
        end
      )::integer
    end
  $$;

  -- The unfinished runs of a schedule give way to a new one.
  create function belfry.cancel_unfinished(schedule_id text) returns void language plpgsql ${PINNED} as $$
  begin
    update belfry.runs as r
    set state = 'cancelled',
      claimable_at = null,
      completed_at = belfry.this_instant(),
      slot = null,
      message = null,
      details = null,
      error = null,
      reason = '${REPLACED_BY_HAND}',
      by_name = session_user,
      outcome = case when r.state = 'running' then 'cancelled' end,
      ended_at = case when r.state = 'running' then belfry.this_instant() end,
      attempts = ${storyOf("r")}
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
  create function belfry.trigger(id text, payload jsonb default null) returns jsonb language plpgsql ${AS_OWNER} as $$
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
  ) returns jsonb language plpgsql ${AS_OWNER} as $$
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
    if char_length(enqueue.key) not between 1 and ${KEY_MAX} then
      raise exception 'The key has % characters: use 1 to ${KEY_MAX}.', char_length(enqueue.key);
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
`
