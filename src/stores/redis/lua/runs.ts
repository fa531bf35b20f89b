import { concurrencyKeyOf } from "../../../core/schedule/schedule.ts"
import { RARELY_TRIGGERED_BY } from "../run-indexes.ts"
import { luaPiece } from "../script.ts"
import { COUNTING } from "./counting.ts"
import { INSTANTS } from "./instants.ts"
import { KEYS } from "./keys.ts"
import { SETS } from "./sets.ts"

/**
 * Keeps all indexes of a run in step with its state: its queue, the holders of its keys, the history and the counts. A run is
 * passed as the table that `read_run` returns; its instants are scores in milliseconds.
 */
export const RUNS = luaPiece(
  [KEYS, INSTANTS, SETS, COUNTING],
  `
-- Concatenating a name takes Lua longer than most commands, so names that many runs share are made once.
local RUNS, LIVE = prefix .. ':runs:', prefix .. ':live'
local ALL_UNFINISHED, UNFINISHED = prefix .. ':unfinished', prefix .. ':unfinished:'
local CREATED, SCHEDULED, COMPLETED = prefix .. ':history:created', prefix .. ':history:scheduled', prefix .. ':history:completed'
local CREATED_OF, SCHEDULED_OF, COMPLETED_OF = CREATED .. ':', SCHEDULED .. ':', COMPLETED .. ':'
-- All runs by id. By creation time: the runs of a task, the children of a run, the running runs, and runs by rare triggers.
local RUN_IDS, OF_TASK, CHILDREN, ALL_RUNNING = prefix .. ':run-ids', prefix .. ':history:task:', prefix .. ':children:', prefix .. ':running-runs'
local TRIGGERED_BY = prefix .. ':history:triggered-by:'

local OWN_KEY = '${concurrencyKeyOf("")}'

-- The fields of a stored run that its indexes and its fencing need; nil if there is no such run. Most runs have only the first
-- fields, or are single: see 'RunFields'.
local function read_run(id)
  local key = RUNS .. id
  local first = fields_in(key, 'state', 'attempt', 'task', 'priority', 'created_at', 'schedule_id', 'further')
  local state, schedule = first[1], first[6]
  if not state then
    return nil
  end
  local run = {
    state = state, attempt = first[2] or '0', task = first[3] or '', priority = number_or(first[4], '0'),
    created_at = ms_of(first[5]) or '0', schedule_id = schedule,
  }
  if schedule or first[7] then
    local further = fields_in(key, 'single', 'live_key', 'concurrency_key', 'concurrency_limit', 'scheduled_for', 'message')
    local single_key = further[1] and schedule and OWN_KEY .. schedule
    run.is_single, run.live_key, run.concurrency_key = single_key, single_key or further[2], single_key or further[3]
    run.concurrency_limit, run.scheduled_for, run.message = further[4], ms_of(further[5]), further[6]
  end
  return run
end

-- The unfinished single run that holds this key, if there is one.
local function single_of(live_key)
  local id = call('HGET', LIVE, live_key)
  local run = id and read_run(id)
  if run and run.is_single then
    return id, run
  end
end

local is_unfinished = { pending = true, running = true }

local queues = {}

local function queue_of(task, priority)
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

local registered = {}

-- Also adds the queue to the queues that a claim reads, once for each queue.
local function put_in_queue(id, task, priority, at)
  local queue = queue_of(task, priority)
  put(queue, id, at)
  if not registered[queue] then
    registered[queue] = true
    call('ZADD', prefix .. ':priorities:' .. task, priority, priority)
  end
end

-- Runs that wait for their concurrency key are kept in sets of their own, one for each limit. When a run ends, the first runs of
-- each set may continue.
local function waiting_key(limit, priority, task, key)
  return prefix .. ':waiting:' .. limit .. ':' .. priority .. ':' .. #task .. ':' .. task .. ':' .. key
end

-- The holders of live keys: as read in advance, and as changed by this script.
local prefetched, holders = {}, {}

local function holder_of(live_key)
  local holder = holders[live_key]
  if holder == nil then
    holder = prefetched[live_key]
  end
  if holder == nil then
    holder = call('HGET', LIVE, live_key)
  end
  return holder
end

local function write_holders()
  local held, free = {}, {}
  for live_key, holder in pairs(holders) do
    if holder then
      held[#held + 1] = live_key
      held[#held + 1] = holder
    else
      free[#free + 1] = live_key
    end
  end
  write_chunks('HDEL', LIVE, free)
  write_chunks('HSET', LIVE, held)
end

local function enter_unfinished(id, run, at)
  put_in_queue(id, run.task, run.priority, at)
  put(ALL_UNFINISHED, id, run.created_at)
  if run.live_key then
    holders[run.live_key] = id
  end
  local key = run.concurrency_key
  if key and not run.is_single then
    call('ZADD', UNFINISHED .. key, run.created_at, id)
  end
  if run.state == 'running' then
    put(ALL_RUNNING, id, run.created_at)
    if key then
      count_running(key, 1)
    end
  end
end

local function leave_unfinished(id, run)
  take(queue_of(run.task, run.priority), id)
  take(ALL_UNFINISHED, id)
  if run.state == 'running' then
    take(ALL_RUNNING, id)
  end
  if run.live_key then
    holders[run.live_key] = false
  end
  local key = run.concurrency_key
  if not key then
    return
  end
  if not run.is_single then
    call('ZREM', UNFINISHED .. key, id)
  end
  if run.state == 'running' then
    count_running(key, -1)
  elseif run.concurrency_limit then
    call('ZREM', waiting_key(run.concurrency_limit, run.priority, run.task, key), id)
  end
end

local function enter_finished(id, run, at)
  put(COMPLETED, id, at)
  if run.schedule_id then
    call('ZADD', COMPLETED_OF .. run.schedule_id, at, id)
  end
  if run.state ~= 'succeeded' then
    put(prefix .. ':history:' .. run.state, id, run.created_at)
  end
end

local function leave_finished(id, run)
  take(COMPLETED, id)
  if run.schedule_id then
    call('ZREM', COMPLETED_OF .. run.schedule_id, id)
  end
  if run.state ~= 'succeeded' then
    take(prefix .. ':history:' .. run.state, id)
  end
end

-- Whether the run is in its schedule's indexes.
local function is_in_schedule(run)
  return run.schedule_id and not (run.is_single and is_unfinished[run.state])
end

local function list_in_schedule(id, run)
  call('ZADD', CREATED_OF .. run.schedule_id, run.created_at, id)
  if run.scheduled_for then
    call('ZADD', SCHEDULED_OF .. run.schedule_id, run.scheduled_for, id)
  end
end

local function unlist_in_schedule(id, run)
  call('ZREM', CREATED_OF .. run.schedule_id, id)
  if run.scheduled_for then
    call('ZREM', SCHEDULED_OF .. run.schedule_id, id)
  end
end

local function count_run(run, change)
  count(run.state, run.task, change)
  if is_in_schedule(run) then
    count_in_schedule(run.state, run.schedule_id, change)
  end
end

-- Most runs are triggered by schedules and programs. Each of the other triggers has its own list.
local is_rare = { ${RARELY_TRIGGERED_BY.map((way) => `${way} = true`).join(", ")} }

-- The lists that contain a run for as long as it is stored.
local function list_run(id, run)
  put(CREATED, id, run.created_at)
  put(RUN_IDS, id, 0)
  put(OF_TASK .. run.task, id, run.created_at)
  if run.scheduled_for then
    put(SCHEDULED, id, run.scheduled_for)
  end
  if run.parent_id then
    put(CHILDREN .. run.parent_id, id, run.created_at)
  end
  if is_rare[run.triggered_by] then
    put(TRIGGERED_BY .. run.triggered_by, id, run.created_at)
  end
end

local function unlist_run(id, run)
  take(CREATED, id)
  take(RUN_IDS, id)
  take(OF_TASK .. run.task, id)
  -- A process of an older version may have ended the run. It doesn't know this set.
  take(ALL_RUNNING, id)
  local fields = fields_in(RUNS .. id, 'scheduled_for', 'parent_id', 'triggered_by')
  if fields[1] then
    take(SCHEDULED, id)
  end
  if fields[2] then
    take(CHILDREN .. fields[2], id)
  end
  if is_rare[fields[3]] then
    take(TRIGGERED_BY .. fields[3], id)
  end
end

-- 'at' is when the run is due, or when it ended.
local function enter(id, run, at)
  count_run(run, 1)
  if is_unfinished[run.state] then
    enter_unfinished(id, run, at)
  else
    enter_finished(id, run, at)
  end
end

local function leave(id, run)
  count_run(run, -1)
  if is_unfinished[run.state] then
    leave_unfinished(id, run)
  else
    leave_finished(id, run)
  end
end

-- Must be called at the end of every script that calls 'enter' or 'leave'.
local function write_places()
  write_sets()
  write_holders()
  write_counts()
end
`,
)
