import { UNFINISHED_FACTS_MAX } from "../../../core/planning/plan.ts"
import { luaPiece } from "../script.ts"
import { RUNS } from "./runs.ts"

/** Reads what a plan needs to know of the unfinished runs of schedules. */
export const FACTS = luaPiece(
  [RUNS],
  `
local FACTS_MAX = ${UNFINISHED_FACTS_MAX}

-- A single run is in no set, so it is inserted by its creation time.
local function insert_single(ids, scores, id)
  local run = read_run(id)
  if not run or not run.is_single then
    return
  end
  local place = 1
  while scores[place] and scores[place] <= (tonumber(run.created_at) or 0) do
    place = place + 1
  end
  table.insert(ids, place, id)
end

local function oldest_unfinished(set, holder)
  local ids, scores = {}, {}
  local places = call('ZRANGE', set, 0, FACTS_MAX - 1, 'WITHSCORES')
  for index = 1, #places, 2 do
    ids[#ids + 1], scores[#scores + 1] = places[index], tonumber(places[index + 1])
  end
  if holder then
    insert_single(ids, scores, holder)
  end
  return ids
end

local function facts_of(ids)
  local facts = {}
  for index = 1, math.min(#ids, FACTS_MAX) do
    local fields = fields_in(RUNS .. ids[index], 'state', 'attempt', 'failures', 'lost')
    if fields[1] then
      fields[5] = ids[index]
      facts[#facts + 1] = fields
    end
  end
  return facts
end

-- Most schedules have no unfinished run, so one command checks all of them.
local function facts_by_schedule(schedules)
  local keys, sets, facts = {}, {}, {}
  for index, schedule in ipairs(schedules) do
    keys[index] = OWN_KEY .. schedule
    sets[index] = UNFINISHED .. keys[index]
  end
  local holders = call('HMGET', LIVE, unpack(keys))
  local any_in_sets = call('EXISTS', unpack(sets)) > 0
  for index, set in ipairs(sets) do
    local has_unfinished = any_in_sets or holders[index]
    facts[index] = has_unfinished and facts_of(oldest_unfinished(set, holders[index])) or {}
  end
  return facts
end
`,
)
