import { AS_OWNER, PINNED } from "./tables.ts"

/** What a plan depends on, beside how far it has come. */
const EDITED_COLUMNS = "{task,function,payload,cron,timezone,enabled,priority,triggers,options,paused}"
/** How many edits are told apart. */
const EDITS_MAX = 20

/** Rows that people write: each change is kept beside the row until a plan has done what it asks for. */
export const BY_HAND = `
  -- One more edit. After ${EDITS_MAX} that nobody has planned, further ones are merged into the last: it keeps the oldest values.
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

  -- Functions of triggers have their owner's rights, and a row is of the types of its table: on a table of somebody else's, its own
  -- casts and operators would be called with them. Nobody else may make a trigger of them, either; see the end.
  create function belfry.assert_own_table(relation oid) returns void language plpgsql ${PINNED} as $$
  begin
    if relation is distinct from 'belfry.schedules'::regclass then
      raise exception 'This function is for the triggers of Belfry''s own table.' using errcode = 'insufficient_privilege';
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
    perform belfry.assert_own_table(tg_relid);
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
    -- Another cron replaces the whole timetable, unless the rest of it is written as well.
    if new.cron <> coalesce(old.cron, '') and new.triggers = old.triggers then
      new.triggers := '[]';
    end if;
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
    perform belfry.assert_own_table(tg_relid);
    delete from belfry.counts as c where c.schedule_id = old.id;
    perform pg_notify(tg_table_schema, 'schedules');
    return null;
  end
  $$;
  -- For each row: a fire deletes schedules that are finished, and nearly always there are none.
  create trigger deleted after delete on belfry.schedules
    for each row execute function belfry.deleted();

  revoke execute on function belfry.written_by_hand(), belfry.deleted() from public;
`
