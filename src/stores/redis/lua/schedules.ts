/** What a schedule is listed by. Needs `KEYS` before it. */
export const SCHEDULES = `
local SCHEDULES = prefix .. ':schedules:'

local function schedule_key(id)
  return SCHEDULES .. id
end

-- The lists that a schedule with these is in: all have a score of nought, so they are in the order of ids.
local function lists_of(task, owner, tags)
  local lists = { prefix .. ':schedule-ids', prefix .. ':schedule-ids:task:' .. task }
  if owner then
    lists[#lists + 1] = prefix .. ':schedule-ids:owner:' .. owner
  end
  for _, tag in ipairs(tags) do
    lists[#lists + 1] = prefix .. ':schedule-ids:tag:' .. tag
  end
  return lists
end

local function unlist(id)
  local stored = call('HMGET', schedule_key(id), 'task', 'owner', 'tags')
  if stored[1] then
    local is_list, tags = pcall(cjson.decode, stored[3] or '[]')
    if not is_list then
      tags = {}
    end
    for _, list in ipairs(lists_of(stored[1], stored[2], tags)) do
      call('ZREM', list, id)
    end
  end
end

local function remove_schedule(id)
  unlist(id)
  call('DEL', schedule_key(id))
  call('ZREM', prefix .. ':due', id)
end
`
