import { PROGRESS_ARGS } from "../schedule-rows.ts"
import { luaPiece } from "../script.ts"
import { INSTANTS } from "./instants.ts"
import { KEYS } from "./keys.ts"

/** Writes the progress of a schedule from the arguments. */
export const PROGRESS = luaPiece(
  [KEYS, INSTANTS],
  `
local PROGRESS_ARGS = ${PROGRESS_ARGS}

-- 'more' are further fields for the same command.
local function write_progress(key, at, version, more)
  local due_at = ARGV[at + 1]
  call('HSET', key, 'version', version, 'progress', ARGV[at], 'next_run', due_at == '' and '' or rfc_3339(due_at), unpack(more))
  if due_at == '' then
    call('HDEL', key, 'next_run')
  end
  -- Why the schedule cannot be planned. The field keeps its last value when the schedule can be planned again.
  if ARGV[at + 2] ~= '' then
    call('HSET', key, 'last_error', ARGV[at + 2])
  end
end

-- Whether the schedule is due earlier than its hash said.
local function is_sooner(due_at, next_run)
  local before = ms_of(next_run)
  return due_at ~= '' and (not before or tonumber(due_at) < tonumber(before))
end
`,
)
