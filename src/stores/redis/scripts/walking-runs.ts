import type { Instant } from "../../../core/time/instant.ts"
import type { RunFilter } from "../../../store/store.ts"
import type { Connection, Reply } from "../connection.ts"
import { SUMMARIES } from "../lua/summaries.ts"
import type { RunIndex } from "../run-indexes.ts"
import { marked, numberOrNone, scriptOf } from "../script.ts"

// Walks through one index from the newest run. Arguments: the index, where to continue, the limit, runs or count, the key of the
// single run that belongs to the index, the field that orders it, the bounds of that field, and the filter.
// Returns whether the walk is at its end, the last place examined, and what was found.
const WALK = scriptOf(
  [SUMMARIES],
  `
local STEP = 500
local index = prefix .. ARGV[1] .. ARGV[2]
local before_at, before_id = ARGV[3], ARGV[4]
local limit, is_count = tonumber(ARGV[5]), ARGV[6] == 'count'
local single_key, ordered_by = text_of(ARGV[7]), ARGV[8]
local from, till = tonumber(ARGV[9]), tonumber(ARGV[10])
local wanted = read_wanted(11)

-- How many runs come before that place, newest first: all newer runs, and the runs of the same instant whose id is not below. The
-- place among the latter is found by binary search.
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

local function first_rank()
  if before_at ~= '' then
    return rank_after(before_at, before_id)
  end
  return till and call('ZCOUNT', index, ARGV[10], '+inf') or 0
end

-- Whether the first place comes after the second, newest first.
local function is_behind(at, id, other_at, other_id)
  at, other_at = tonumber(at), tonumber(other_at)
  return at < other_at or (at == other_at and is_less(id, other_id))
end

-- Inserts the single run, which is in no set. Not if it belongs before the first place, or after the last one with more to come.
local function insert_single(places, is_end)
  local id, run = single_of(single_key)
  local at = run and run[ordered_by]
  if not at or (before_at ~= '' and not is_behind(at, id, before_at, before_id)) or (till and tonumber(at) >= till) then
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

-- Most runs that do not match have another state. So the state is read first, and the other fields only if it matches.
local function is_in_state(id)
  local state = fields_in(RUNS .. id, 'state')[1]
  return state and string.find(wanted.states, ',' .. state .. ',', 1, true)
end

-- The next page begins after the last run's score in the index. So the score is returned if it differs from the run's instant.
local function with_place(list, run, at)
  if tonumber(ms_of(run[ordered_by])) ~= tonumber(at) then
    add_field(list, 'place', at)
    add_field(list, 'placed_by', ordered_by)
  end
  return list
end

local rank = first_rank()
local places = call('ZREVRANGE', index, rank, rank + STEP - 1, 'WITHSCORES')
local is_end = #places < 2 * STEP
if single_key then
  insert_single(places, is_end)
end
local found, by_state, examined, is_below = {}, {}, 0, false
while examined < #places and #found < limit and not is_below do
  local id, at = places[examined + 1], places[examined + 2]
  examined = examined + 2
  is_below = from and tonumber(at) < from
  local run, list
  if not is_below and (wanted.states == '' or is_in_state(id)) then
    run, list = read_summary(id)
  end
  if run and matches(run, wanted) and (not wanted.prefix or string.sub(id, 1, #wanted.prefix) == wanted.prefix) then
    if is_count then
      by_state[run.state or ''] = (by_state[run.state or ''] or 0) + 1
    else
      found[#found + 1] = with_place(summary_of(id, run, list), run, at)
    end
  end
end
for state, sum in pairs(by_state) do
  found[#found + 1] = { state, sum }
end
local is_over = is_below or (examined == #places and is_end)
return { is_over and 1 or 0, places[examined] or false, places[examined - 1] or false, found }
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
  readonly from?: Instant | undefined
  readonly until?: Instant | undefined
  readonly limit: number
  readonly what: "runs" | "count"
}

export function walk(connection: Connection, index: RunIndex, about: Walk): Promise<WalkReply> {
  const { filter, before, from, until, limit, what } = about
  return connection.run<WalkReply>(WALK, [
    index.kind,
    index.name,
    before?.at ?? "",
    before?.id ?? "",
    limit,
    what,
    marked(index.singleKey),
    index.orderedBy,
    numberOrNone(from ?? null),
    numberOrNone(until ?? null),
    ...wantedArgs(filter),
  ])
}

/** The arguments for `read_wanted` of `lua/summaries.ts`. */
export function wantedArgs(filter: RunFilter): readonly string[] {
  return [
    marked(filter.scheduleId ?? null),
    marked(filter.task ?? null),
    marked(filter.concurrencyKey ?? null),
    marked(filter.parentId ?? null),
    marked(filter.workerId ?? null),
    listText(filter.states),
    listText(filter.triggeredBy),
    marked(filter.idPrefix ?? null),
  ]
}

function listText(words: readonly string[] | undefined): string {
  return words === undefined ? "" : `,${words.join(",")},`
}
