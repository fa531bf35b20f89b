/** Removes runs and schedules with everything they are found by. Needs `RUNS` and `SCHEDULES` before it. */
export const REMOVING = `
local function remove_run(id, run)
  leave(id, run)
  take(CREATED, id)
  if run.scheduled_for then
    take(SCHEDULED, id)
  end
  if run.schedule_id then
    unlist_in_schedule(id, run)
  end
  call('UNLINK', RUNS .. id, prefix .. ':attempts:' .. id, prefix .. ':logs:' .. id)
end

-- If the schedule is made again, nobody has skipped those occurrences of it.
local function forget_skips_to_come(schedule)
  for _, id in ipairs(call('ZRANGEBYSCORE', SCHEDULED_OF .. schedule, '(' .. now_ms(), '+inf')) do
    local run = read_run(id)
    if run and run.state == 'skipped' and run.schedule_id == schedule then
      remove_run(id, run)
    end
  end
end

local function remove_schedule(id)
  unlist(id)
  call('DEL', schedule_key(id))
  call('ZREM', prefix .. ':due', id)
  forget_skips_to_come(id)
end
`
