import type { Run } from "../../../core/run.ts"
import type { RunFilter } from "../../../store/store.ts"
import type { Connection, Reply } from "../connection.ts"
import { RUNS } from "../lua/runs.ts"
import { WHOLE_RUNS } from "../lua/whole-runs.ts"
import { isWanted, type RunIndex } from "../run-indexes.ts"
import { fieldsOf, readableRunOf } from "../run-rows.ts"
import { marked, scriptOf, slicesOf } from "../script.ts"

// A walk through one index from its newest end. Arguments: the index, where to go on, how many, what to look for, the key whose
// single run belongs among them, and the field that they are ordered by.
// Answers whether the index is at its end, the last place looked at, and what was found.
const WALK = scriptOf(
  RUNS,
  WHOLE_RUNS,
  `
local STEP = 500
local index = prefix .. ARGV[1] .. ARGV[2]
local before_at, before_id = ARGV[3], ARGV[4]
local limit = tonumber(ARGV[5])
local wanted = { schedule_id = text_of(ARGV[6]), task = text_of(ARGV[7]), concurrency_key = text_of(ARGV[8]) }
local states, triggered_by = ARGV[9], ARGV[10]
local single_key, ordered_by = text_of(ARGV[12]), ARGV[13]

-- By their bytes, as Redis orders members: Lua's own comparison is by the server's language.
local function is_less(a, b)
  for place = 1, math.min(#a, #b) do
    local x, y = string.byte(a, place), string.byte(b, place)
    if x ~= y then
      return x < y
    end
  end
  return #a < #b
end

-- How many come before that place in the order, newest first: all that are newer, and of the same instant those with
-- an id not below, among which it is sought by halving.
local function rank_after(at, id)
  local low = call('ZCOUNT', index, '(' .. at, '+inf')
  local high = low + call('ZCOUNT', index, at, at)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if is_less(call('ZREVRANGE', index, middle, middle)[1], id) then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

-- Whether the first place comes after the second, newest first.
local function is_behind(at, id, other_at, other_id)
  at, other_at = tonumber(at), tonumber(other_at)
  return at < other_at or (at == other_at and is_less(id, other_id))
end

-- The run that no set has, where it would be: unless that is before the first of these, or after the last and not the end.
local function insert_single(places, is_end)
  local id, run = single_of(single_key)
  local at = run and run[ordered_by]
  if not at or (before_at ~= '' and not is_behind(at, id, before_at, before_id)) then
    return
  end
  local place = 1
  while place < #places and is_behind(at, id, places[place + 1], places[place]) do
    place = place + 2
  end
  if is_end or place < #places then
    table.insert(places, place, at)
    table.insert(places, place, id)
  end
end

local function matches(run)
  for field, text in pairs(wanted) do
    if text and run[field] ~= text then
      return false
    end
  end
  return (triggered_by == '' or string.find(triggered_by, ',' .. (run.triggered_by or '') .. ',', 1, true))
end

-- No more than these can match, as long as this script runs.
local function most_there_are()
  local of, fields, most = wanted.task and ':task:' .. wanted.task or ':all', {}, 0
  for state in string.gmatch(states, '%a+') do
    fields[#fields + 1] = state .. of
  end
  for _, sum in ipairs(call('HMGET', COUNTS, unpack(fields))) do
    -- What can't be read may be any number.
    most = most + (count_in(sum) or math.huge)
  end
  return most
end

-- Most that don't match are in another state: that is asked for first, and the rest only of those that are in the right one.
local function is_in_state(id)
  local state = fields_in(RUNS .. id, 'state')[1]
  return state and string.find(states, ',' .. state .. ',', 1, true)
end

-- The next page begins behind the instant of this one's last run: so that is where the index has it, whatever the run says.
local function in_place(list, run, at)
  if tonumber(ms_of(run[ordered_by])) ~= tonumber(at) then
    add_field(list, 'place', at)
    add_field(list, 'placed_by', ordered_by)
  end
  return list
end

local rank = before_at == '' and 0 or rank_after(before_at, before_id)
local places = call('ZREVRANGE', index, rank, rank + STEP - 1, 'WITHSCORES')
local is_end = #places < 2 * STEP
if single_key then
  insert_single(places, is_end)
end
local found, by_state, matched, looked_at = {}, {}, 0, 0
while looked_at < #places and #found < limit do
  local id = places[looked_at + 1]
  looked_at = looked_at + 2
  local run, list
  if states == '' or is_in_state(id) then
    run, list = read_all(id)
  end
  if run and matches(run) then
    matched = matched + 1
    if ARGV[11] == 'count' then
      by_state[run.state or ''] = (by_state[run.state or ''] or 0) + 1
    else
      found[#found + 1] = in_place(whole_run(id, run, list), run, places[looked_at])
    end
  end
end
for state, sum in pairs(by_state) do
  found[#found + 1] = { state, sum }
end
local is_over = looked_at == #places and is_end
-- Few runs are unfinished, and most of those are new: who has found as many as there are need not look further.
if before_at == '' and states ~= '' and not is_over then
  is_over = matched >= most_there_are()
end
return { is_over and 1 or 0, places[looked_at] or false, places[looked_at - 1] or false, found }
`,
)

const READ = scriptOf(
  RUNS,
  WHOLE_RUNS,
  `
local found = {}
for _, id in ipairs(ARGV) do
  local run, list = read_all(id)
  if run then
    found[#found + 1] = whole_run(id, run, list)
  end
end
return found
`,
)

export type Place = { readonly at: string | number; readonly id: string }
export type WalkReply = readonly [
  isOver: number,
  at: string | null,
  id: string | null,
  found: readonly Reply[],
]

interface Walk {
  readonly filter: RunFilter
  readonly before: Place | null
  readonly limit: number
  readonly what: "runs" | "count"
}

export function walk(connection: Connection, index: RunIndex, { filter, before, limit, what }: Walk) {
  return connection.run<WalkReply>(WALK, [
    index.kind,
    index.name,
    before?.at ?? "",
    before?.id ?? "",
    limit,
    marked(filter.scheduleId ?? null),
    marked(filter.task ?? null),
    marked(filter.concurrencyKey ?? null),
    listText(filter.states),
    listText(filter.triggeredBy),
    what,
    marked(index.singleKey),
    index.orderedBy,
  ])
}

function listText(words: readonly string[] | undefined): string {
  return words === undefined ? "" : `,${words.join(",")},`
}

export async function runsById(connection: Connection, filter: RunFilter): Promise<readonly Run[]> {
  const found: Run[] = []
  for (const slice of slicesOf([...new Set(filter.ids)])) {
    const rows = await connection.run<readonly Reply[]>(READ, slice)
    found.push(...rows.map((row) => readableRunOf(fieldsOf(row))))
  }
  return found.filter((run) => isWanted(run, filter))
}
