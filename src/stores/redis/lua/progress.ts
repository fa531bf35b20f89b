import { PROGRESS_ARGS } from "../schedule-rows.ts"

/** How far a schedule has come, from its place among the arguments. Needs `SCHEDULES` before it. */
export const PROGRESS = `
local PROGRESS_ARGS = ${PROGRESS_ARGS}

local function write_progress(id, at, version)
  local key = schedule_key(id)
  local next_run, last_run = ARGV[at + 2], ARGV[at + 3]
  local fields = { 'version', version, 'progress', ARGV[at], 'run_count', ARGV[at + 4] }
  local gone = {}
  if next_run ~= '' then
    fields[#fields + 1] = 'next_run'
    fields[#fields + 1] = next_run
  else
    gone[#gone + 1] = 'next_run'
  end
  if last_run ~= '' then
    fields[#fields + 1] = 'last_run'
    fields[#fields + 1] = last_run
  else
    gone[#gone + 1] = 'last_run'
  end
  -- Why it can't be planned. Once it can, the last error stays what it was, as that of a run does.
  if ARGV[at + 5] ~= '' then
    fields[#fields + 1] = 'last_error'
    fields[#fields + 1] = ARGV[at + 5]
  end
  call('HSET', key, unpack(fields))
  if #gone > 0 then
    call('HDEL', key, unpack(gone))
  end
end

-- Both are RFC 3339 texts, which order as their instants do.
local function is_sooner(next_run, before)
  return next_run ~= '' and (not before or next_run < before)
end
`
