import { OVERDUE_AFTER_MS } from "../../../core/schedule/schedule-state.ts"
import { luaPiece } from "../script.ts"
import { SCHEDULES } from "./schedules.ts"

export const WANTED_ARGS = 7

/**
 * Which schedules a list contains, and their order. Arguments from `at` on:
 * the prefix of the id, the owner, the task, the tag, the text, the states, and the order. Only fields that the filter needs
 * are read.
 */
export const WANTED_SCHEDULES = luaPiece(
  [SCHEDULES],
  `
local function read_wanted(at)
  return {
    prefix = text_of(ARGV[at]), owner = text_of(ARGV[at + 1]), task = text_of(ARGV[at + 2]), tag = text_of(ARGV[at + 3]),
    text = text_of(ARGV[at + 4]), states = ARGV[at + 5], order_by = ARGV[at + 6],
  }
end

-- Nil if the text is not a JSON object or list.
local function decoded(text)
  local is_json, value = pcall(cjson.decode, text or '')
  return is_json and type(value) == 'table' and value or nil
end

local function is_set(value)
  return value ~= nil and value ~= cjson.null
end

-- A definition written by hand may not be JSON; then the schedule is broken. Parsing it would take longer than all other work
-- here, so only the first and the last character are checked.
local function is_object(text)
  return text and string.byte(text, 1) == 123 and string.byte(text, -1) == 125
end

-- Must agree with scheduleStateOf in core/schedule/schedule-state.ts.
local overdue_before = now_ms() - ${OVERDUE_AFTER_MS}
local function state_in(fields)
  local progress = decoded(fields[1])
  if not progress or is_set(progress.lastError) or not is_object(fields[2]) then
    return 'broken'
  end
  if is_set(progress.finishedAt) then
    return 'finished'
  end
  if fields[3] == 'false' then
    return 'disabled'
  end
  if is_set(progress.paused) then
    return 'paused'
  end
  local next_run = tonumber(progress.nextRunAt)
  if next_run and next_run < overdue_before then
    return 'overdue'
  end
  if (count_in(fields[4]) or 0) > 0 then
    return 'failing'
  end
  return fields[5] and 'ok' or 'new'
end

-- Also returns the task.
local function state_of(key)
  local fields = fields_in(key, 'progress', 'definition', 'enabled', 'failures_in_a_row', 'last_run', 'task')
  return state_in(fields), fields[6]
end

local function has_text(id, key, text)
  local fields = fields_in(key, 'task', 'definition')
  if string.find(string.lower(id), text, 1, true) or string.find(string.lower(fields[1] or ''), text, 1, true) then
    return true
  end
  -- A text without JSON escapes appears in the definition unchanged, so most definitions need not be parsed.
  if not string.find(text, '[%c"\\\\]') and not string.find(string.lower(fields[2] or ''), text, 1, true) then
    return false
  end
  local definition = decoded(fields[2])
  local description = definition and definition.description
  return type(description) == 'string' and string.find(string.lower(description), text, 1, true)
end

local function has_tag(tags, tag)
  for _, each in ipairs(decoded(tags) or {}) do
    if each == tag then
      return true
    end
  end
  return false
end

local function is_wanted(id, wanted)
  local key = schedule_key(id)
  if wanted.prefix and string.sub(id, 1, #wanted.prefix) ~= wanted.prefix then
    return false
  end
  if wanted.owner or wanted.task or wanted.tag then
    local fields = fields_in(key, 'owner', 'task', 'tags')
    if wanted.owner and fields[1] ~= wanted.owner or wanted.task and fields[2] ~= wanted.task
      or wanted.tag and not has_tag(fields[3], wanted.tag) then
      return false
    end
  end
  return (not wanted.text or has_text(id, key, wanted.text))
    and (wanted.states == '' or string.find(wanted.states, ',' .. state_of(key) .. ',', 1, true))
end

-- The id, a space and the stored instant that the list is ordered by; ids have no spaces. Nil if there is no such schedule.
local function place_of(id, order_by)
  local key = schedule_key(id)
  local at = redis.pcall('HGET', key, order_by == 'nextRunAt' and 'next_run' or 'last_run')
  if type(at) == 'string' then
    return id .. ' ' .. at
  end
  return call('EXISTS', key) == 1 and id or nil
end
`,
)
