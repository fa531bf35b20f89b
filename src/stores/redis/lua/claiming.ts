import { FIRST_FIELDS, FURTHER_FIELDS } from "../run-claimed.ts"
import { luaPiece } from "../script.ts"
import { QUEUES } from "./queues.ts"
import { RUNS } from "./runs.ts"
import { ATTEMPT_LISTS } from "./whole-runs.ts"

const names = (fields: readonly string[]) => fields.map((field) => `'${field}'`).join(", ")
const places = (fields: readonly string[]) =>
  fields.map((field, index) => `${field} = ${index + 1}`).join(", ")

/**
 * Claims runs for a worker, or parks them until their key is free. A run is the list of its first fields. In the reply, the
 * further fields replace its state.
 */
export const CLAIMING = luaPiece(
  [RUNS, ATTEMPT_LISTS, QUEUES],
  `
local FIRST, FURTHER_AT = { ${places(FIRST_FIELDS)} }, { ${places(FURTHER_FIELDS)} }
local STATE, ATTEMPT, SCHEDULE, LIMIT, DUE = FIRST.state, FIRST.attempt, FIRST.schedule_id, FIRST.concurrency_limit, FIRST.due_at
local CREATED_AT = FIRST.created_at
local FURTHER = STATE + 1

local function read_for_claim(id)
  local run = fields_in(RUNS .. id, ${names(FIRST_FIELDS)})
  run[FURTHER] = run[ATTEMPT] and fields_in(RUNS .. id, ${names(FURTHER_FIELDS)})
  return run
end

-- Arithmetic on other values would abort the script, and no run would be claimed.
local function is_sound(run)
  local further = run[FURTHER]
  return count_in(run[ATTEMPT]) and count_in(run[LIMIT]) and count_in(further and further[FURTHER_AT.lost])
end

local function fail_unsound(id)
  call('HSET', RUNS .. id, 'state', 'failed', 'completed_at', now_iso, 'reason', 'unreadable',
    'error', "This record can't be read: its attempt, limit or number of lost workers is not a number")
end

local function is_single(run)
  return run[SCHEDULE] and (not run[FURTHER] or run[FURTHER][FURTHER_AT.single])
end

local function key_of(run)
  if is_single(run) then
    return OWN_KEY .. run[SCHEDULE]
  end
  return run[FURTHER] and run[FURTHER][FURTHER_AT.concurrency_key]
end

-- The run itself counts as running afterwards, so a result below 1 is not a valid count either.
local function add_running(key, change)
  local running = redis.pcall('HINCRBY', RUNNING, key, change)
  if type(running) == 'number' and running > 0 and count_in(running) then
    return running
  end
  running = recount_running(key) + change
  call('HSET', RUNNING, key, whole(running))
  return running
end

-- False if the key is at its limit. A run whose lease ended is still counted as running, so it is not counted again.
local function take_key(run)
  local key, limit, was_running = key_of(run), run[LIMIT], run[STATE] == 'running'
  if not key or (was_running and not limit) then
    return true
  end
  local running = add_running(key, was_running and 0 or 1)
  if limit and running > tonumber(limit) then
    if not was_running then
      call('HINCRBY', RUNNING, key, -1)
    end
    return false
  end
  return true
end

-- Keeps a run out of its queue until a run with its key ends, so that claims do not read it again and again.
local function park(id, run, source, due_at)
  local limit, key = run[LIMIT], key_of(run)
  call('ZADD', waiting_key(limit, source.priority, source.task, key), due_at, id)
  call('SADD', prefix .. ':parked:' .. key, limit .. ':' .. source.priority .. ':' .. source.task)
  call('SADD', prefix .. ':parked', key)
end

local function count_as_running(run, task)
  local state, schedule = run[STATE], run[SCHEDULE]
  count(state, task, -1)
  count('running', task, 1)
  if schedule and not is_single(run) then
    count_in_schedule(state, schedule, -1)
    count_in_schedule('running', schedule, 1)
  end
end

-- Prepares a run that was claimed or changed before: records an attempt whose lease ended, and reads earlier attempts.
local function begin_next_attempt(id, run, due_at)
  local further = run[FURTHER]
  local worker_id, started_at = further[FURTHER_AT.worker_id], further[FURTHER_AT.started_at]
  if run[STATE] == 'running' then
    local ended_attempt = { attempt = run[ATTEMPT], worker_id = worker_id, due_at = run[DUE], started_at = started_at }
    local is_lost = further[FURTHER_AT.confirmed_attempt] == run[ATTEMPT]
    add_attempt(id, ended_attempt, is_lost and 'lost' or 'unconfirmed', tonumber(due_at), false)
    if is_lost then
      further[FURTHER_AT.lost] = whole((further[FURTHER_AT.lost] or 0) + 1)
      call('HSET', RUNS .. id, 'lost', further[FURTHER_AT.lost])
    end
  end
  call('HDEL', RUNS .. id, 'progress')
  -- The attempts replace the previous worker's id, which the reply does not need.
  further[FURTHER_AT.confirmed_attempt], further[FURTHER_AT.started_at] = nil, nil
  local list = redis.pcall('LRANGE', prefix .. ':attempts:' .. id, 0, -1)
  further[FURTHER_AT.worker_id] = list.err and {} or list
  return whole(run[ATTEMPT] + 1)
end

local claimed_ids, rows, source_counts = {}, {}, {}

-- Counts consecutive runs of the same queue, because most runs of a claim are of one queue.
local function count_source(number)
  local length = #source_counts
  if source_counts[length - 1] == number then
    source_counts[length] = source_counts[length] + 1
  else
    source_counts[length + 1], source_counts[length + 2] = number, 1
  end
end

-- The reply has the run as it was before the claim; the caller fills in what the claim changes. Missing values at the end of the
-- list are left out.
local function add_to_reply(id, run, source)
  run[STATE], run[FURTHER] = run[FURTHER], nil
  local last = STATE
  while not run[last] do
    run[last] = nil
    last = last - 1
  end
  local length = #claimed_ids + 1
  claimed_ids[length], rows[length] = id, run
  count_source(source.number)
end

local function claim_run(id, run, source, due_at)
  count_as_running(run, source.task)
  local attempt = run[ATTEMPT] and begin_next_attempt(id, run, due_at) or '1'
  run[DUE] = due_at
  call('HSET', RUNS .. id, 'state', 'running', 'attempt', attempt, 'worker_id', worker, 'due_at', rfc_3339(due_at), 'started_at', now_iso)
  put(source.queue, id, source.leased_until)
  put(ALL_RUNNING, id, ms_of(run[CREATED_AT]) or '0')
end
`,
)
