import { type Run, type RunState, UNFINISHED } from "../../../core/run.ts"
import type { RunFilter, RunPage } from "../../../store/store.ts"
import type { Connection, Reply } from "../connection.ts"
import { RUNS, WHOLE_RUNS } from "../lua/runs.ts"
import { indexesFor, isWanted, type RunIndex } from "../run-indexes.ts"
import { fieldsOf, runOf } from "../run-rows.ts"
import { marked, scriptOf, slicesOf } from "../script.ts"

// A walk through one index from its newest end. Arguments: the index, where to go on, what to look for, how many.
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

local function matches(run)
  for field, text in pairs(wanted) do
    if text and run[field] ~= text then
      return false
    end
  end
  return (states == '' or string.find(states, ',' .. run.state .. ',', 1, true))
    and (triggered_by == '' or string.find(triggered_by, ',' .. run.triggered_by .. ',', 1, true))
end

local rank = before_at == '' and 0 or rank_after(before_at, before_id)
local places = call('ZREVRANGE', index, rank, rank + STEP - 1, 'WITHSCORES')
local found, by_state, looked_at = {}, {}, 0
while looked_at < #places and #found < limit do
  local id = places[looked_at + 1]
  looked_at = looked_at + 2
  local run, list = read_run(id)
  if run and matches(run) then
    if ARGV[11] == 'count' then
      by_state[run.state] = (by_state[run.state] or 0) + 1
    else
      found[#found + 1] = whole_run(id, run, list)
    end
  end
end
for state, sum in pairs(by_state) do
  found[#found + 1] = { state, sum }
end
local is_over = looked_at == #places and #places < 2 * STEP
return { is_over and 1 or 0, places[looked_at] or false, places[looked_at - 1] or false, found }
`,
)

const READ = scriptOf(
  RUNS,
  WHOLE_RUNS,
  `
local found = {}
for _, id in ipairs(ARGV) do
  local run, list = read_run(id)
  if run then
    found[#found + 1] = whole_run(id, run, list)
  end
end
return found
`,
)

const COUNTS = scriptOf(RUNS, "return call('HMGET', prefix .. ':counts', unpack(ARGV))")

type Place = { readonly at: string | number; readonly id: string }
type WalkReply = readonly [isOver: number, at: string | null, id: string | null, found: readonly Reply[]]

export async function findRuns(
  connection: Connection,
  filter: RunFilter,
  page: RunPage,
): Promise<readonly Run[]> {
  if (filter.ids !== undefined) return pageOf(await runsById(connection, filter), page)
  const found: Run[] = []
  const indexes = indexesFor(filter, page.orderBy)
  const atMost = await mostThereAre(connection, filter)
  for (const index of indexes) found.push(...(await walkPage(connection, index, filter, { ...page, atMost })))
  return indexes.length === 1 ? found : pageOf(found, page)
}

/** Few runs are unfinished, and most of those are new: who has found as many as there are need not look through the past. */
async function mostThereAre(connection: Connection, { states, task }: RunFilter): Promise<number> {
  if (states === undefined || !states.every((state) => UNFINISHED.includes(state)))
    return Number.POSITIVE_INFINITY
  const { pending, running } = await countRuns(connection, task === undefined ? { states } : { states, task })
  return pending + running
}

async function walkPage(
  connection: Connection,
  index: RunIndex,
  filter: RunFilter,
  page: RunPage & { readonly atMost: number },
) {
  const found: Run[] = []
  let before: Place | null = page.before
  while (found.length < Math.min(page.limit, page.atMost)) {
    const limit = page.limit - found.length
    const [isOver, at, id, rows] = await walk(connection, index, { filter, before, limit, what: "runs" })
    for (const row of rows) found.push(runOf(fieldsOf(row)))
    if (isOver === 1) break
    before = { at: at!, id: id! }
  }
  return found
}

interface Walk {
  readonly filter: RunFilter
  readonly before: Place | null
  readonly limit: number
  readonly what: "runs" | "count"
}

function walk(connection: Connection, index: RunIndex, { filter, before, limit, what }: Walk) {
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
  ])
}

function listText(words: readonly string[] | undefined): string {
  return words === undefined ? "" : `,${words.join(",")},`
}

async function runsById(connection: Connection, filter: RunFilter): Promise<readonly Run[]> {
  const found: Run[] = []
  for (const slice of slicesOf([...new Set(filter.ids)])) {
    const rows = await connection.run<readonly Reply[]>(READ, slice)
    found.push(...rows.map((row) => runOf(fieldsOf(row))))
  }
  return found.filter((run) => isWanted(run, filter))
}

function pageOf(runs: readonly Run[], { orderBy, before, limit }: RunPage): readonly Run[] {
  const isAfter = (run: Run) =>
    before === null || run[orderBy]! < before.at || (run[orderBy] === before.at && run.id < before.id)
  return runs
    .filter((run) => run[orderBy] !== null && isAfter(run))
    .sort((a, b) => b[orderBy]! - a[orderBy]! || (a.id < b.id ? 1 : -1))
    .slice(0, limit)
}

type Counts = Record<RunState, number>

const STATES: readonly RunState[] = ["pending", "running", "succeeded", "failed", "cancelled", "skipped"]

export async function countRuns(connection: Connection, filter: RunFilter): Promise<Counts> {
  const counts: Counts = { pending: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }
  const field = keptCountOf(filter)
  if (filter.ids !== undefined) {
    for (const { state } of await runsById(connection, filter)) counts[state]++
  } else if (field === null) {
    await countByWalking(connection, filter, counts)
  } else {
    const kept = await connection.run<readonly (string | null)[]>(
      COUNTS,
      STATES.map((state) => state + field),
    )
    STATES.forEach((state, index) => {
      if (filter.states === undefined || filter.states.includes(state)) counts[state] = Number(kept[index])
    })
  }
  return counts
}

/** What the scripts keep count of: all runs, those of a task, and those of a schedule. */
function keptCountOf({ scheduleId, task, triggeredBy, concurrencyKey }: RunFilter): string | null {
  if (triggeredBy !== undefined || concurrencyKey !== undefined) return null
  if (scheduleId === undefined) return task === undefined ? ":all" : `:task:${task}`
  return task === undefined ? `:schedule:${scheduleId}` : null
}

async function countByWalking(connection: Connection, filter: RunFilter, counts: Counts): Promise<void> {
  for (const index of indexesFor(filter, "createdAt")) {
    let before: Place | null = null
    for (;;) {
      const reply: WalkReply = await walk(connection, index, { filter, before, limit: 1, what: "count" })
      const [isOver, at, id, sums] = reply
      for (const [state, sum] of sums as readonly (readonly [RunState, number])[]) counts[state] += sum
      if (isOver === 1) break
      before = { at: at!, id: id! }
    }
  }
}
