export const END_COLUMNS = "schedule_id, last_state, last_ended_at, last_success_at, failures_in_a_row"

/** The end of an insert into `belfry.ends as e`. */
export const ADD_ENDS = `
    on conflict (schedule_id) do update
    set last_state = excluded.last_state,
      last_ended_at = excluded.last_ended_at,
      last_success_at = coalesce(excluded.last_success_at, e.last_success_at),
      failures_in_a_row = excluded.failures_in_a_row
        + case when excluded.last_success_at is null then e.failures_in_a_row else 0 end`

/** How a schedule's runs ended. Not in the schedule's row, because the updates would conflict with fires. */
export const ENDS = `
  create table belfry.ends (
    schedule_id text collate "C" primary key,
    last_state text not null,
    last_ended_at timestamptz not null,
    last_success_at timestamptz,
    failures_in_a_row bigint not null
  );
  insert into belfry.ends (${END_COLUMNS})
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
    insert into belfry.ends as e (${END_COLUMNS})
    select new.schedule_id, new.last_state, new.last_ended_at, new.last_success_at, new.failures_in_a_row
    where exists (select 1 from belfry.schedules as s where s.id = new.schedule_id)${ADD_ENDS};
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
`
