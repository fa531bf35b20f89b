import { luaPiece } from "../script.ts"
import { KEYS } from "./keys.ts"
import { RUNS } from "./runs.ts"
/**
 * Aborts a script before its first write if the key `:parked` has the wrong type. An error later would leave runs half changed.
 */
export const BEFORE_WRITING = luaPiece(
  [KEYS],
  `
call('SCARD', prefix .. ':parked')
`,
)

/**
 * When a run with a concurrency key ends or becomes pending again, returns parked runs of that key to their queues, up to the
 * limit.
 */
export const UNPARKING = luaPiece(
  [RUNS],
  `
local hints, touched = {}, {}
local ROOM_MAX = 500

-- The first waiting runs. A finished or missing run was added by another program, and must not use up room.
local function next_waiting(waiting, room)
  local found = {}
  while #found < room do
    local wanted = room - #found
    local runs = call('ZRANGE', waiting, 0, wanted - 1, 'WITHSCORES')
    for index = 1, #runs, 2 do
      call('ZREM', waiting, runs[index])
      if is_unfinished[fields_in(RUNS .. runs[index], 'state')[1]] then
        found[#found + 1] = { id = runs[index], at = runs[index + 1] }
      end
    end
    if #runs < 2 * wanted then
      return found, true
    end
  end
  return found, false
end

local function remove_place(key, place)
  call('SREM', prefix .. ':parked:' .. key, place)
  if call('EXISTS', prefix .. ':parked:' .. key) == 0 then
    call('SREM', prefix .. ':parked', key)
  end
end

local function unpark_place(key, place)
  local limit, priority, task = string.match(place, '^(%-?%d+):(%-?%d+):(.*)$')
  if not limit then
    -- Another program wrote this member; no run waits there.
    return remove_place(key, place)
  end
  local running = count_in(call('HGET', RUNNING, key)) or recount_running(key)
  local room = math.min(limit - running, ROOM_MAX)
  if room <= 0 then
    return
  end
  local runs, is_all = next_waiting(waiting_key(limit, priority, task, key), room)
  for _, run in ipairs(runs) do
    put_in_queue(run.id, task, priority, run.at)
    hints.runs = true
  end
  if is_all then
    remove_place(key, place)
  end
end

-- Most keys have no waiting runs, so one command checks all of them.
local function unpark()
  if #touched == 0 then
    return
  end
  for index, is_parked in ipairs(call('SMISMEMBER', prefix .. ':parked', unpack(touched))) do
    if is_parked == 1 then
      for _, place in ipairs(call('SMEMBERS', prefix .. ':parked:' .. touched[index])) do
        unpark_place(touched[index], place)
      end
    end
  end
end
`,
)
