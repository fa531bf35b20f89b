import { PROGRESS_ARGS } from "../schedule-rows.ts"

/** How far a schedule has come, from its place among the arguments. Needs `INSTANTS` before it. */
export const PROGRESS = `
local PROGRESS_ARGS = ${PROGRESS_ARGS}

-- More fields are written in the same step.
local function write_progress(key, at, version, more)
  local due_at = ARGV[at + 1]
  call('HSET', key, 'version', version, 'progress', ARGV[at], 'next_run', due_at == '' and '' or rfc_3339(due_at), unpack(more))
  if due_at == '' then
    call('HDEL', key, 'next_run')
  end
  -- Why it can't be planned. Once it can, the last error stays what it was, as that of a run does.
  if ARGV[at + 2] ~= '' then
    call('HSET', key, 'last_error', ARGV[at + 2])
  end
end

-- Than what its hash said.
local function is_sooner(due_at, next_run)
  local before = ms_of(next_run)
  return due_at ~= '' and (not before or tonumber(due_at) < tonumber(before))
end
`
