import { ATTEMPTS_KEPT } from "../../../core/run.ts"
import { KEYS } from "./keys.ts"
import { SETS } from "./sets.ts"

/**
 * These keep in step with a run's state everything it is found by: its queue, the runs that hold its keys, the history and
 * the counts.
 */
export const RUNS = `${KEYS}${SETS}
-- To put a name together takes Lua longer than most commands take: what is the same for many runs is made once.
local RUNS, LIVE, RUNNING, UNFINISHED = prefix .. ':runs:', prefix .. ':live', prefix .. ':running', prefix .. ':unfinished:'
local CREATED, SCHEDULED, COMPLETED = prefix .. ':history:created', prefix .. ':history:scheduled', prefix .. ':history:completed'
local CREATED_OF, SCHEDULED_OF, COMPLETED_OF = CREATED .. ':', SCHEDULED .. ':', COMPLETED .. ':'

local function run_key(id)
  return RUNS .. id
end

local function read_run(id)
  return read_hash(RUNS .. id)
end

local function is_unfinished(state)
  return state == 'pending' or state == 'running'
end

local queues = {}

local function queue_of(run)
  local task, priority = run.task, run.priority or '0'
  local by_priority = queues[task]
  if not by_priority then
    by_priority = {}
    queues[task] = by_priority
  end
  local queue = by_priority[priority]
  if not queue then
    queue = prefix .. ':queue:' .. priority .. ':' .. task
    by_priority[priority] = queue
  end
  return queue
end

local listed = {}

-- Its queue is among those that a claim looks at; said once for each.
local function list_queue(queue, task, priority)
  if not listed[queue] then
    listed[queue] = true
    put(prefix .. ':priorities:' .. task, priority, priority)
  end
end

-- Runs that wait for their key wait apart, those of each limit by themselves: who may go on when a run ends are then the
-- first of each.
local function waiting_key(limit, priority, task, key)
  return prefix .. ':waiting:' .. limit .. ':' .. priority .. ':' .. #task .. ':' .. task .. ':' .. key
end

local function waiting_of(run)
  return waiting_key(run.concurrency_limit, run.priority or 0, run.task, run.concurrency_key)
end

local function enter_unfinished(id, run, at)
  local queue = queue_of(run)
  put(queue, id, at)
  list_queue(queue, run.task, run.priority or '0')
  if run.live_key then
    call('HSET', LIVE, run.live_key, id)
  end
  local key = run.concurrency_key
  if key then
    put(UNFINISHED .. key, id, run.created_at)
    if run.state == 'running' then
      call('HINCRBY', RUNNING, key, 1)
    end
  end
end

local function leave_unfinished(id, run)
  put(queue_of(run), id, false)
  if run.live_key then
    call('HDEL', LIVE, run.live_key)
  end
  local key = run.concurrency_key
  if key then
    put(UNFINISHED .. key, id, false)
    if run.state == 'running' then
      if call('HINCRBY', RUNNING, key, -1) <= 0 then
        call('HDEL', RUNNING, key)
      end
    elseif run.concurrency_limit then
      put(waiting_of(run), id, false)
    end
  end
end

-- 'at' is false for one that is no longer finished, or no longer there.
local function place_finished(id, run, at)
  put(COMPLETED, id, at)
  if run.schedule_id then
    put(COMPLETED_OF .. run.schedule_id, id, at)
  end
  if run.state ~= 'succeeded' then
    put(prefix .. ':history:' .. run.state, id, at and run.created_at)
  end
end

local function enter(id, run, at)
  count(run.state, run, 1)
  if is_unfinished(run.state) then
    enter_unfinished(id, run, at)
  else
    place_finished(id, run, run.completed_at)
  end
end

local function leave(id, run)
  count(run.state, run, -1)
  if is_unfinished(run.state) then
    leave_unfinished(id, run)
  else
    place_finished(id, run, false)
  end
end

-- Where it is found for as long as it is stored.
local function place_stored(id, run, is_there)
  local created, scheduled = is_there and run.created_at, is_there and run.scheduled_for
  put(CREATED, id, created)
  if run.scheduled_for then
    put(SCHEDULED, id, scheduled)
  end
  if run.schedule_id then
    put(CREATED_OF .. run.schedule_id, id, created)
    if run.scheduled_for then
      put(SCHEDULED_OF .. run.schedule_id, id, scheduled)
    end
  end
end
`

/**
 * Adds new runs, each from its place among the arguments: the id, the state, a delay, an instant to wait for, how many
 * fields, and each field's name and value. Only what is there is sent, and goes into the hash as it is.
 */
export const NEW_RUNS = `
local function end_of_new(at)
  return at + 5 + 2 * ARGV[at + 4]
end

local function new_run(at, now_text)
  local run = { state = ARGV[at + 1], created_at = now_text }
  for place = at + 5, end_of_new(at) - 1, 2 do
    run[ARGV[place]] = ARGV[place + 1]
  end
  return run
end

local function holder_of(run)
  return run.live_key and run.state == 'pending' and call('HGET', LIVE, run.live_key)
end

local function write_new(at, run, now_text)
  local from, last = at + 5, end_of_new(at) - 1
  if run.state == 'pending' then
    call('HSET', run_key(ARGV[at]), 'state', 'pending', 'created_at', now_text, unpack(ARGV, from, last))
  else
    run.completed_at = now_text
    call('HSET', run_key(ARGV[at]), 'state', run.state, 'created_at', now_text, 'completed_at', now_text,
      unpack(ARGV, from, last))
  end
end

local function add_run(at, run, now, now_text)
  local id, due_at, not_before = ARGV[at], now + ARGV[at + 2], ARGV[at + 3]
  write_new(at, run, now_text)
  place_stored(id, run, true)
  if not_before ~= '' and tonumber(not_before) > due_at then
    enter(id, run, not_before)
  else
    enter(id, run, whole(due_at))
  end
end
`

/** Reads whole runs, as callers see them. */
export const WHOLE_RUNS = `
-- The list is looked at only where it can be: one attempt that runs still, or ended with its run, has none.
local function earlier_attempts(id, run)
  local here = (run.state == 'running' or run.outcome) and 1 or 0
  return tonumber(run.attempt or 0) > here and call('LRANGE', prefix .. ':attempts:' .. id, 0, -1)
end

local function claimable_at(id, run)
  local at = call('ZSCORE', queue_of(run), id)
  if not at and run.concurrency_key and run.concurrency_limit then
    at = call('ZSCORE', waiting_of(run), id)
  end
  return at
end

local function add_field(list, field, value)
  if value then
    list[#list + 1] = field
    list[#list + 1] = value
  end
end

-- What isn't in the hash follows its fields.
local function whole_run(id, run, list)
  add_field(list, 'id', id)
  add_field(list, 'claimable_at', is_unfinished(run.state) and claimable_at(id, run))
  add_field(list, 'attempts', earlier_attempts(id, run))
  return list
end
`

/** The story of attempts that are over while their run goes on. */
export const STORIES = `
local function tell_attempt(id, run, outcome, ended_at, error)
  local story = cjson.encode({
    tonumber(run.attempt or 0), run.worker_id or '', tonumber(run.started_at or ended_at), ended_at, outcome,
    error or cjson.null,
  })
  local key = prefix .. ':attempts:' .. id
  if call('RPUSH', key, story) > ${ATTEMPTS_KEPT} then
    call('LTRIM', key, -${ATTEMPTS_KEPT}, -1)
  end
end
`
