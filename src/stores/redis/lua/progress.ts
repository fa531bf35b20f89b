import { PROGRESS_ARGS } from "../schedule-rows.ts"

/** How far a schedule has come, from its place among the arguments. */
export const PROGRESS = `
local PROGRESS_ARGS = ${PROGRESS_ARGS}

-- More fields are written in the same step.
local function write_progress(key, at, version, more)
  local next_run = ARGV[at + 2]
  call('HSET', key, 'version', version, 'progress', ARGV[at], 'next_run', next_run, unpack(more))
  if next_run == '' then
    call('HDEL', key, 'next_run')
  end
  -- Why it can't be planned. Once it can, the last error stays what it was, as that of a run does.
  if ARGV[at + 3] ~= '' then
    call('HSET', key, 'last_error', ARGV[at + 3])
  end
end

-- Both are RFC 3339 texts, which order as their instants do.
local function is_sooner(next_run, before)
  return next_run ~= '' and (not before or next_run < before)
end
`
