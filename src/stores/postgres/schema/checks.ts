import { JSON_DEPTH_MAX, JSON_KEYS_MAX, PAYLOAD_MAX_BYTES } from "../../../core/json.ts"
import { TAGS_MAX } from "../../../core/limits.ts"
import { isInstant, PINNED } from "./tables.ts"

/** What is refused where it is written. What only a plan can tell is shown in `last_error`. */
export const CHECKS = `
  create function belfry.is_task_name(name text) returns boolean language sql immutable ${PINNED} as $$
    select name ~ '^[A-Za-z0-9_.:/-]{1,200}$'
  $$;

  -- The bounds of schedules.create. The table's own are wider, for those who write a store's records.
  create function belfry.check_texts(schedule belfry.schedules) returns void language plpgsql ${PINNED} as $$
  begin
    if not belfry.is_task_name(schedule.task) then
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

  -- What a payload may be, whoever gives it and to what. Only here: a constraint would read it at every fire.
  create function belfry.check_payload(payload jsonb, what text) returns void language plpgsql ${PINNED} as $$
  begin
    if octet_length(payload::text) > ${PAYLOAD_MAX_BYTES} then
      raise exception 'The payload of % has more than ${PAYLOAD_MAX_BYTES} bytes.', what;
    end if;
    if jsonb_path_exists(
      payload, 'strict $.**{${JSON_DEPTH_MAX} to last} ? (@.type() == "object" || @.type() == "array")'
    ) then
      raise exception 'The payload of % is nested deeper than ${JSON_DEPTH_MAX} levels.', what;
    end if;
    if (
      select count(*)
      from jsonb_path_query(payload, 'strict $.** ? (@.type() == "object").keyvalue()')
    ) > ${JSON_KEYS_MAX} then
      raise exception 'The payload of % has more than ${JSON_KEYS_MAX} keys.', what;
    end if;
  end
  $$;

  create function belfry.check_next_run(id text, at timestamptz) returns void language plpgsql ${PINNED} as $$
  begin
    if not (${isInstant("check_next_run.at")}) then
      raise exception 'Schedule "%" can''t have its next run at %: write an instant of the years 1 to 9999.', check_next_run.id,
        check_next_run.at;
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
    perform belfry.check_next_run(schedule.id, schedule.next_run_at);
    perform belfry.check_texts(schedule);
    perform belfry.check_payload(schedule.payload, format('schedule "%s"', schedule.id));
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
`
