import { UNREADABLE_VERSION } from "../../../core/records/damaged-records.ts"
import { luaPiece } from "../script.ts"
import { KEYS } from "./keys.ts"

/** The lists of schedules. */
export const SCHEDULES = luaPiece(
  [KEYS],
  `
local SCHEDULES = prefix .. ':schedules:'

local function schedule_key(id)
  return SCHEDULES .. id
end

-- The version that a change is compared with; '' if there is no schedule. A missing or invalid version counts as
-- ${UNREADABLE_VERSION}, as it does when the schedule is read. So the schedule can still be planned, replaced and deleted.
local function version_of(key, stored)
  if stored and #stored < 16 and string.find(stored, '^[1-9]%d*$') then
    return stored
  end
  return (stored or call('EXISTS', key) == 1) and '${UNREADABLE_VERSION}' or ''
end

-- The lists that contain the schedule. All scores are 0, so a list is ordered by id.
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
`,
)
