import { luaPiece } from "../script.ts"
import { KEYS } from "./keys.ts"
import { SETS } from "./sets.ts"
/** Counts runs by state: in total, for each task and for each schedule. Also counts the running runs of each key. */
export const COUNTING = luaPiece(
  [KEYS, SETS],
  `
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

-- Counts the running runs of a key from the runs themselves, as stored now. Single runs are found by the live key. Reads all
-- unfinished runs of the key, so it is used only if the stored count is not a count.
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
  -- The sum over all tasks is the count of all runs.
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
`,
)
