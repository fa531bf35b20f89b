/**
 * A member's place in a sorted set, and the counts of runs. Counts are gathered and written at the end, since many runs change
 * the same ones. Places are written at once: to gather them too, one command for each set, was measured and no faster.
 */
export const SETS = `
-- A score of false takes the member out.
local function put(set, member, score)
  if score then
    call('ZADD', set, score, member)
  else
    call('ZREM', set, member)
  end
end

local CHUNK = 1000

-- By state and task, and by state and schedule.
local by_task, by_schedule = {}, {}

local function count_in(counts, state, name, change)
  local names = counts[state]
  if not names then
    names = {}
    counts[state] = names
  end
  names[name] = (names[name] or 0) + change
end

local function count(state, run, change)
  count_in(by_task, state, run.task, change)
  if run.schedule_id then
    count_in(by_schedule, state, run.schedule_id, change)
  end
end

local function write_count_chunk(fields, changes)
  local stored = call('HMGET', prefix .. ':counts', unpack(fields))
  local changed, length, emptied = {}, 0, {}
  for index, field in ipairs(fields) do
    local sum = (stored[index] or 0) + changes[index]
    if sum == 0 then
      emptied[#emptied + 1] = field
    else
      changed[length + 1], changed[length + 2] = field, sum
      length = length + 2
    end
  end
  if length > 0 then
    call('HSET', prefix .. ':counts', unpack(changed))
  end
  if #emptied > 0 then
    call('HDEL', prefix .. ':counts', unpack(emptied))
  end
end

local function write_counts_of(counts, kind)
  local fields, changes, length = {}, {}, 0
  for state, names in pairs(counts) do
    for name, change in pairs(names) do
      if change ~= 0 then
        length = length + 1
        fields[length], changes[length] = state .. kind .. name, change
        if length == CHUNK then
          write_count_chunk(fields, changes)
          fields, changes, length = {}, {}, 0
        end
      end
    end
  end
  if length > 0 then
    write_count_chunk(fields, changes)
  end
end

local function write_counts()
  write_counts_of(by_task, ':task:')
  write_counts_of(by_schedule, ':schedule:')
  -- What all tasks have in common is the count of all runs.
  local all = {}
  for state, names in pairs(by_task) do
    for _, change in pairs(names) do
      count_in(all, state, 'all', change)
    end
  end
  write_counts_of(all, ':')
end
`
