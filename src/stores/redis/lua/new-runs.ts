/**
 * Adds new runs, each from its place among the arguments: the number of its kind, its id, an instant to wait for, and its own
 * values. A kind is what runs have in common: the state, the task, the priority, a delay, whether they hold their schedule's key
 * alone, how many arguments follow for the fields they share and how many for the names of their own; and these. Only what is
 * there is sent, and goes into the hash as it is. Needs `RUNS` before it.
 */
export const NEW_RUNS = `
local KIND_HEAD, RUN_HEAD = 7, 3
local now = now_ms()
local now_text = whole(now)
local kinds = {}

-- A kind is also the record of the run that is being added. Its fields are those of the hash, with places for the run's own.
local function read_kind(at)
  local kind = { state = ARGV[at], task = ARGV[at + 1], priority = ARGV[at + 2], delay = ARGV[at + 3], created_at = now_text }
  local fields = { 'state', kind.state, 'created_at', now_text, 'task', kind.task }
  if kind.state ~= 'pending' then
    fields[7], fields[8] = 'completed_at', now_text
  end
  local names = at + KIND_HEAD + ARGV[at + 5]
  for place = at + KIND_HEAD, names - 1 do
    fields[#fields + 1] = ARGV[place]
  end
  kind.is_single, kind.own, kind.places, kind.fields, kind.length = ARGV[at + 4] == '1', tonumber(ARGV[at + 6]), {}, fields, #fields
  for index = 1, kind.own do
    local name = ARGV[names + index - 1]
    fields[kind.length + 2 * index - 1] = name
    kind.places[name] = RUN_HEAD + index - 1
  end
  return kind, names + kind.own
end

-- Answers where the runs begin.
local function read_kinds(at)
  local next_at = at + 1
  for number = 1, tonumber(ARGV[at]) do
    kinds[tostring(number)], next_at = read_kind(next_at)
  end
  return next_at
end

local function end_of_new(at)
  return at + RUN_HEAD + kinds[ARGV[at]].own
end

local function own_value(kind, at, name)
  local place = kind.places[name]
  return place and ARGV[at + place]
end

local some_are_stored, added, live_keys = false, {}, {}

local function live_key_of(kind, at)
  if kind.is_single then
    return OWN_KEY .. own_value(kind, at, 'schedule_id')
  end
  return own_value(kind, at, 'live_key')
end

-- Asks about all of them at once: to ask for each takes twice as long. Of the live keys who holds them, of the ids whether
-- any is stored, which is rare.
local function ask_about(places)
  local keys, lives = {}, {}
  for index, at in ipairs(places) do
    local kind = kinds[ARGV[at]]
    keys[index] = RUNS .. ARGV[at + 1]
    local live_key = kind.state == 'pending' and live_key_of(kind, at)
    if live_key then
      live_keys[at] = live_key
      lives[#lives + 1] = live_key
    end
  end
  for from = 1, #keys, CHUNK do
    local found = call('EXISTS', unpack(keys, from, math.min(from + CHUNK - 1, #keys)))
    some_are_stored = some_are_stored or found > 0
  end
  for from = 1, #lives, CHUNK do
    local last = math.min(from + CHUNK - 1, #lives)
    for index, holder in ipairs(call('HMGET', LIVE, unpack(lives, from, last))) do
      asked[lives[from + index - 1]] = holder
    end
  end
end

local function is_stored(id)
  return added[id] or (some_are_stored and call('EXISTS', RUNS .. id) == 1)
end

local function due_at(delay, not_before)
  local at = now + delay
  if not_before ~= '' and tonumber(not_before) > at then
    return not_before
  end
  return delay == '0' and now_text or whole(at)
end

-- The kind, as the record of the run at that place.
local function new_run(at)
  local kind = kinds[ARGV[at]]
  local fields, length = kind.fields, kind.length
  for index = 1, kind.own do
    fields[length + 2 * index] = ARGV[at + RUN_HEAD + index - 1]
  end
  kind.schedule_id, kind.scheduled_for = own_value(kind, at, 'schedule_id'), own_value(kind, at, 'scheduled_for')
  kind.live_key = live_keys[at]
  kind.concurrency_key = kind.is_single and kind.live_key or own_value(kind, at, 'concurrency_key')
  return kind
end

local function add_run(at)
  local id, run = ARGV[at + 1], new_run(at)
  added[id] = true
  call('HSET', RUNS .. id, unpack(run.fields))
  enter(id, run, run.state == 'pending' and due_at(run.delay, ARGV[at + 2]) or now_text)
  put(CREATED, id, now_text)
  if run.scheduled_for then
    put(SCHEDULED, id, run.scheduled_for)
  end
  if is_in_schedule(run) then
    list_in_schedule(id, run)
  end
end
`
