import { FIRST_FIELDS, FURTHER_FIELDS } from "../run-claimed.ts"

const names = (fields: readonly string[]) => fields.map((field) => `'${field}'`).join(", ")
const places = (fields: readonly string[]) =>
  fields.map((field, index) => `${field} = ${index + 1}`).join(", ")

/**
 * Gives a worker the runs it claims, or puts them aside until their key is free. A run is the list of what is read first of it; in
 * place of its state comes at last what there is further. Needs `RUNS`, `STORIES`, the worker and the clock before it.
 */
export const TAKING = `
local FIRST, THEN = { ${places(FIRST_FIELDS)} }, { ${places(FURTHER_FIELDS)} }
local STATE, ATTEMPT, SCHEDULE, LIMIT, DUE = FIRST.state, FIRST.attempt, FIRST.schedule_id, FIRST.concurrency_limit, FIRST.due_at
local CREATED_AT = FIRST.created_at
local FURTHER = STATE + 1

local function read_to_give(id)
  local run = fields_in(RUNS .. id, ${names(FIRST_FIELDS)})
  run[FURTHER] = run[ATTEMPT] and fields_in(RUNS .. id, ${names(FURTHER_FIELDS)})
  return run
end

-- Arithmetic on anything else would end the script, and nobody would be given anything.
local function is_sound(run)
  local further = run[FURTHER]
  return count_in(run[ATTEMPT]) and count_in(run[LIMIT]) and count_in(further and further[THEN.lost])
end

local function fail_unsound(id)
  call('HSET', RUNS .. id, 'state', 'failed', 'completed_at', now_read, 'reason', 'unreadable',
    'error', "This record can't be read: its attempt, limit or number of lost workers is no number")
end

local function is_single(run)
  return run[SCHEDULE] and (not run[FURTHER] or run[FURTHER][THEN.single])
end

local function key_of(run)
  if is_single(run) then
    return OWN_KEY .. run[SCHEDULE]
  end
  return run[FURTHER] and run[FURTHER][THEN.concurrency_key]
end

-- The run whose key it is either has its place, or takes one: fewer than one is no count, either.
local function add_running(key, change)
  local running = redis.pcall('HINCRBY', RUNNING, key, change)
  if type(running) == 'number' and running > 0 and count_in(running) then
    return running
  end
  running = recount_running(key) + change
  call('HSET', RUNNING, key, whole(running))
  return running
end

-- False where the key is full. A silent worker's run holds it already, and is not in its own way.
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

-- Put aside until a run with its key ends, so that no claim looks at it again.
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

-- A run that isn't taken for the first time, or was changed before: what it was, and the story of its attempts.
local function go_on(id, run, due_at)
  local further = run[FURTHER]
  local worker_id, started_at = further[THEN.worker_id], further[THEN.started_at]
  if run[STATE] == 'running' then
    local silent = { attempt = run[ATTEMPT], worker_id = worker_id, due_at = run[DUE], started_at = started_at }
    local is_lost = further[THEN.confirmed_attempt] == run[ATTEMPT]
    tell_attempt(id, silent, is_lost and 'lost' or 'unconfirmed', tonumber(due_at), false)
    if is_lost then
      further[THEN.lost] = whole((further[THEN.lost] or 0) + 1)
      call('HSET', RUNS .. id, 'lost', further[THEN.lost])
    end
  end
  call('HDEL', RUNS .. id, 'progress')
  -- In place of the worker that had it, of which the claimer need not know.
  further[THEN.confirmed_attempt], further[THEN.started_at] = nil, nil
  local list = redis.pcall('LRANGE', prefix .. ':attempts:' .. id, 0, -1)
  further[THEN.worker_id] = list.err and {} or list
  return whole(run[ATTEMPT] + 1)
end

local given, rows, shares = {}, {}, {}

-- How many in a row are of one queue: most are of the same.
local function note_source(number)
  local length = #shares
  if shares[length - 1] == number then
    shares[length] = shares[length] + 1
  else
    shares[length + 1], shares[length + 2] = number, 1
  end
end

-- The answer is the run as it was, and what of it the claimer can't know; the rest it puts in itself. What a run lacks at the
-- end of its list is left out.
local function answer_with(id, run, source)
  run[STATE], run[FURTHER] = run[FURTHER], nil
  local last = STATE
  while not run[last] do
    run[last] = nil
    last = last - 1
  end
  local length = #given + 1
  given[length], rows[length] = id, run
  note_source(source.number)
end

local function give(id, run, source, due_at)
  count_as_running(run, source.task)
  local attempt = run[ATTEMPT] and go_on(id, run, due_at) or '1'
  run[DUE] = due_at
  call('HSET', RUNS .. id, 'state', 'running', 'attempt', attempt, 'worker_id', worker, 'due_at', rfc_3339(due_at), 'started_at', now_read)
  put(source.queue, id, source.leased_until)
  put(ALL_RUNNING, id, ms_of(run[CREATED_AT]) or '0')
end
`
