import { attemptsOf } from "../run-rows.ts"
import { END_COLUMNS } from "./ends.ts"

/** For `belfry.trigger`: the unfinished runs of a schedule give way to a new one. They end with its transaction. */
export const CANCEL_UNFINISHED = `
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
      attempts = ${attemptsOf("r")}
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
      insert into belfry.ends_within (${END_COLUMNS})
      values (cancel_unfinished.schedule_id, 'cancelled', belfry.this_instant(), null, 0);
      perform pg_notify('belfry', 'cancelled');
    end if;
  end
  $$;
`
