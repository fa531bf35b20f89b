import { ATTEMPTS_KEPT } from "../../../core/run/run.ts"
import { luaPiece } from "../script.ts"
import { INSTANTS } from "./instants.ts"
import { KEYS } from "./keys.ts"
import { RUNS } from "./runs.ts"

/** Reads complete runs, as callers see them. */
export const WHOLE_RUNS = luaPiece(
  [RUNS],
  `
-- Returns all fields as a table by name, and as the list that Redis returns. Nil if there is no such run.
local function read_all(id)
  local list = redis.pcall('HGETALL', RUNS .. id)
  if list.err or #list == 0 then
    return nil
  end
  local fields = {}
  for index = 1, #list, 2 do
    fields[list[index]] = list[index + 1]
  end
  if fields.single and fields.schedule_id then
    fields.live_key = OWN_KEY .. fields.schedule_id
    fields.concurrency_key = fields.live_key
  end
  return fields, list
end

-- The list is read only if it can exist. An attempt that is running, or that ended with its run, is not in it.
local function earlier_attempts(id, run)
  local here = (run.state == 'running' or run.outcome) and 1 or 0
  local list = tonumber(number_or(run.attempt, 0)) > here and redis.pcall('LRANGE', prefix .. ':attempts:' .. id, 0, -1)
  return list and not list.err and list
end

local function claimable_at(id, run)
  if not run.task then
    return nil
  end
  local priority = run.priority or '0'
  local at = call('ZSCORE', queue_of(run.task, priority), id)
  if not at and run.concurrency_key and run.concurrency_limit then
    at = call('ZSCORE', waiting_key(run.concurrency_limit, priority, run.task, run.concurrency_key), id)
  end
  return at
end

local function add_field(list, field, value)
  if value then
    list[#list + 1] = field
    list[#list + 1] = value
  end
end

-- Appends the values that are not in the hash.
local function whole_run(id, run, list)
  add_field(list, 'id', id)
  add_field(list, 'claimable_at', is_unfinished[run.state] and claimable_at(id, run))
  add_field(list, 'attempts', earlier_attempts(id, run))
  return list
end
`,
)

/** Records an attempt that ended while its run continues. */
export const ATTEMPT_LISTS = luaPiece(
  [KEYS, INSTANTS],
  `
local function add_attempt(id, run, outcome, ended_at, error)
  local started_at = ms_of(run.started_at) or ended_at
  local entry = cjson.encode({
    tonumber(run.attempt or 0), run.worker_id or '', tonumber(ms_of(run.due_at) or started_at), tonumber(started_at), ended_at, outcome,
    error or cjson.null,
  })
  local key = prefix .. ':attempts:' .. id
  local length = redis.pcall('RPUSH', key, entry)
  if type(length) == 'number' and length > ${ATTEMPTS_KEPT} then
    call('LTRIM', key, -${ATTEMPTS_KEPT}, -1)
  end
end
`,
)
