/** How many runs there are in each state: of all, of a task and of a schedule; and how many are running with a key. */
export const COUNTING = `
local COUNTS, RUNNING = prefix .. ':counts', prefix .. ':running'
local by_task, by_schedule, running = {}, {}, {}

local function count(state, task, change)
  local tasks = by_task[state]
  if not tasks then
    tasks = {}
    by_task[state] = tasks
  end
  tasks[task] = (tasks[task] or 0) + change
end

local function count_in_schedule(state, schedule, change)
  local field = state .. ':schedule:' .. schedule
  by_schedule[field] = (by_schedule[field] or 0) + change
end

local function count_running(key, change)
  running[key] = (running[key] or 0) + change
end

-- How many with this key are running, by the runs themselves as they are written now. Those that hold the key of their schedule
-- alone are found by it. It looks at all unfinished runs of the key, so it is done only where the count can't be read.
local function recount_running(key)
  local count = 0
  for _, id in ipairs(redis.pcall('ZRANGE', prefix .. ':unfinished:' .. key, 0, -1)) do
    if fields_in(prefix .. ':runs:' .. id, 'state')[1] == 'running' then
      count = count + 1
    end
  end
  local holder = call('HGET', prefix .. ':live', key)
  local single = holder and fields_in(prefix .. ':runs:' .. holder, 'state', 'single') or {}
  return single[1] == 'running' and single[2] and count + 1 or count
end

local function write_counts()
  -- What all tasks have in common is the count of all runs.
  local changes = by_schedule
  for state, tasks in pairs(by_task) do
    local all = 0
    for task, change in pairs(tasks) do
      changes[state .. ':task:' .. task] = change
      all = all + change
    end
    changes[state .. ':all'] = all
  end
  write_changes(COUNTS, changes)
  write_changes(RUNNING, running, recount_running)
end
`
