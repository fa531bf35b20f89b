import { luaPiece } from "../script.ts"
import { KINDS } from "./kinds.ts"
import { RUNS } from "./runs.ts"

/**
 * Adds new runs. The head of a kind is the state, the task, the priority, the delay or '', whether the runs are single, whether a
 * `notBefore` follows their ids, and what triggered them. Only fields with values are sent; they are written to the hash as they
 * are.
 */
export const NEW_RUNS = luaPiece(
  [RUNS, KINDS],
  `
local now = now_ms()
local now_text, now_iso = whole(now), rfc_3339(now)

-- The table of a kind also serves as the record of the run that is being added.
local function read_new_kind(at)
  local state, task, triggered_by = ARGV[at], ARGV[at + 1], ARGV[at + 6]
  local fields = { 'state', state, 'created_at', now_iso, 'task', task, 'triggered_by', triggered_by }
  if state ~= 'pending' then
    fields[9], fields[10] = 'completed_at', now_iso
  end
  return {
    state = state, task = task, priority = ARGV[at + 2], delay = ARGV[at + 3], is_single = ARGV[at + 4] == '1',
    is_timed = ARGV[at + 5] == '1', triggered_by = triggered_by, created_at = now_text, fields = fields,
  }
end

local function read_new_kinds(at)
  return read_kinds(at, 7, read_new_kind)
end

local some_are_stored, added, live_keys = false, {}, {}

local function live_key_of(kind, at)
  if kind.is_single then
    return OWN_KEY .. own_value(kind, at, 'schedule_id')
  end
  return own_value(kind, at, 'live_key')
end

-- Reads the holders of all live keys, and whether any id is stored already, which is rare. One command for all runs: a command
-- for each takes twice as long.
local function prefetch(places)
  local keys, wanted_keys = {}, {}
  for index, at in ipairs(places) do
    local kind = kinds[ARGV[at]]
    keys[index] = RUNS .. ARGV[at + 1]
    local live_key = kind.state == 'pending' and live_key_of(kind, at)
    if live_key then
      live_keys[at] = live_key
      wanted_keys[#wanted_keys + 1] = live_key
    end
  end
  for from = 1, #keys, CHUNK do
    local found = call('EXISTS', unpack(keys, from, math.min(from + CHUNK - 1, #keys)))
    some_are_stored = some_are_stored or found > 0
  end
  for from = 1, #wanted_keys, CHUNK do
    local last = math.min(from + CHUNK - 1, #wanted_keys)
    for index, holder in ipairs(call('HMGET', LIVE, unpack(wanted_keys, from, last))) do
      prefetched[wanted_keys[from + index - 1]] = holder
    end
  end
end

local function is_stored(id)
  return added[id] or (some_are_stored and call('EXISTS', RUNS .. id) == 1)
end

local function due_at(delay, not_before)
  if delay == '' then
    return not_before or now_text
  end
  local at = now + delay
  if not_before and tonumber(not_before) > at then
    return not_before
  end
  return delay == '0' and now_text or whole(at)
end

-- Fills the kind's table with the run at that argument.
local function new_run(at)
  local kind = kinds[ARGV[at]]
  kind.schedule_id, kind.scheduled_for = own_value(kind, at, 'schedule_id'), ms_of(own_value(kind, at, 'scheduled_for'))
  kind.live_key, kind.parent_id = live_keys[at], own_value(kind, at, 'parent_id')
  kind.concurrency_key = kind.is_single and kind.live_key or own_value(kind, at, 'concurrency_key')
  return kind
end

local function add_run(at)
  local id, run = ARGV[at + 1], new_run(at)
  added[id] = true
  call('HSET', RUNS .. id, unpack(fields_of(run, at)))
  enter(id, run, run.state == 'pending' and due_at(run.delay, time_of(run, at)) or now_text)
  list_run(id, run)
  if is_in_schedule(run) then
    list_in_schedule(id, run)
  end
end

-- The fields about runs in the hash of a schedule.
local function fields_of_count(count, last_id)
  return { 'run_count', whole(count), 'last_run_id', last_id, 'last_run', now_iso }
end
`,
)
