import { attemptsOf } from "../run-rows.ts"
import { END_COLUMNS } from "./ends.ts"

/** For `belfry.trigger`: cancels the unfinished runs of a schedule for a new run, in the caller's transaction. */
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
      insert into belfry.deferred_ends (${END_COLUMNS})
      values (cancel_unfinished.schedule_id, 'cancelled', belfry.this_instant(), null, 0);
      perform pg_notify('belfry', 'cancelled');
    end if;
  end
  $$;
`
