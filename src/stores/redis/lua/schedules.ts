import { UNREADABLE_VERSION } from "../../../core/unreadable.ts"

/** What a schedule is listed by. Needs `KEYS` before it. */
export const SCHEDULES = `
local SCHEDULES = prefix .. ':schedules:'

local function schedule_key(id)
  return SCHEDULES .. id
end

-- The version that a change is compared with; '' if there is no schedule. One that is no version, or is missing, counts as
-- ${UNREADABLE_VERSION}, which is how it is read: so the schedule can still be planned, replaced and deleted.
local function version_of(key, stored)
  if stored and #stored < 16 and string.find(stored, '^[1-9]%d*$') then
    return stored
  end
  return (stored or call('EXISTS', key) == 1) and '${UNREADABLE_VERSION}' or ''
end

-- The lists that a schedule with these is in: all have a score of nought, so they are in the order of ids.
local function lists_of(task, owner, tags)
  local lists = { prefix .. ':schedule-ids', prefix .. ':schedule-ids:task:' .. task }
  if owner then
    lists[#lists + 1] = prefix .. ':schedule-ids:owner:' .. owner
  end
  for _, tag in ipairs(tags) do
    if type(tag) == 'string' then
      lists[#lists + 1] = prefix .. ':schedule-ids:tag:' .. tag
    end
  end
  return lists
end

local function unlist(id)
  local stored = fields_in(schedule_key(id), 'task', 'owner', 'tags')
  local is_json, tags = pcall(cjson.decode, stored[3] or '[]')
  if not is_json or type(tags) ~= 'table' then
    tags = {}
  end
  for _, list in ipairs(lists_of(stored[1] or '', stored[2], tags)) do
    call('ZREM', list, id)
  end
end

local function remove_schedule(id)
  unlist(id)
  call('DEL', schedule_key(id))
  call('ZREM', prefix .. ':due', id)
end
`
