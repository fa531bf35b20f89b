import type { Schedule } from "../../../core/schedule/schedule.ts"
import type { ScheduleFilter, SchedulePage } from "../../../store/store.ts"
import { type ScheduleCount, type ScheduleCounted, scheduleCountsOf } from "../../kit/counts.ts"
import { lowerCase, pageOfPlaces, pageOfSchedules, type SchedulePlace } from "../../kit/schedule-pages.ts"
import type { Connection, Reply } from "../connection.ts"
import { instantIn } from "../instants.ts"
import { SCHEDULES } from "../lua/schedules.ts"
import { WANTED_ARGS, WANTED_SCHEDULES } from "../lua/wanted-schedules.ts"
import { SCHEDULE_FIELDS, type ScheduleRow, scheduleOf } from "../schedule-rows.ts"
import { luaPiece, marked, SLICE, scriptOf, slicesOf } from "../script.ts"

const READING = luaPiece(
  [SCHEDULES],
  `
local function read_schedule(id)
  local fields = fields_in(schedule_key(id), ${SCHEDULE_FIELDS.map((field) => `'${field}'`).join(", ")})
  if not fields[1] and not fields[2] then
    return nil
  end
  fields[1] = version_of(schedule_key(id), fields[1])
  fields[#fields + 1] = id
  return fields
end

local function read_schedules(ids)
  local found = {}
  for _, id in ipairs(ids) do
    found[#found + 1] = read_schedule(id)
  end
  return found
end
`,
)

const READ = scriptOf([READING], "return read_schedules(ARGV)")

// Ordered by id, returns the schedules. In another order, returns only their places. Without an order, returns only the number of
// schedules of each task in each state. Also returns the last id examined, because it stops as soon as enough are found.
const CHOOSING = luaPiece(
  [READING, WANTED_SCHEDULES],
  `
local function count(counts, id)
  local key = schedule_key(id)
  local state, task = state_of(key)
  -- A missing schedule has the state 'broken' too.
  if state == 'broken' and call('EXISTS', key) == 0 then
    return
  end
  task = task or ''
  counts[task] = counts[task] or {}
  counts[task][state] = (counts[task][state] or 0) + 1
end

local function choose(ids, wanted, most)
  local found, last, counts = {}, false, {}
  for _, id in ipairs(ids) do
    if #found >= most then
      break
    end
    last = id
    if not is_wanted(id, wanted) then
      -- Skipped.
    elseif wanted.order_by == 'id' then
      found[#found + 1] = read_schedule(id)
    elseif wanted.order_by == 'none' then
      count(counts, id)
    else
      found[#found + 1] = place_of(id, wanted.order_by)
    end
  end
  for task, states in pairs(counts) do
    for state, number in pairs(states) do
      found[#found + 1] = { task, state, number }
    end
  end
  return { last, found }
end
`,
)

// Arguments: the list, the id before the first, how many to examine, how many to find, and the filter. Returns the last id
// examined, and the schedules that match.
const LIST = scriptOf(
  [CHOOSING],
  `
local after = ARGV[3] == '' and '-' or '(' .. text_of(ARGV[3])
local ids = call('ZRANGEBYLEX', prefix .. ARGV[1] .. ARGV[2], after, '+', 'LIMIT', 0, ARGV[4])
return choose(ids, read_wanted(6), tonumber(ARGV[5]))
`,
)

// Arguments: the filter, and the ids to examine.
const CHOOSE = scriptOf(
  [CHOOSING],
  `
local ids = {}
for index = ${WANTED_ARGS + 1}, #ARGV do
  ids[#ids + 1] = ARGV[index]
end
return choose(ids, read_wanted(1), #ids)
`,
)

type Answer<Row> = readonly [lastId: string | null, rows: readonly Row[]]

/** The most schedules that one script examines. Larger than SLICE, because examining one takes only some microseconds. */
const EXAMINED_MAX = 500

export async function findSchedules(
  connection: Connection,
  filter: ScheduleFilter,
  page: SchedulePage,
): Promise<readonly Schedule[]> {
  if (page.orderBy === "id") {
    const rows = await search<ScheduleRow>(connection, filter, page)
    return pageOfSchedules(rows.map(scheduleOf), page)
  }
  const rows = await search<string>(connection, filter, page)
  const places = rows.map(placeIn)
  const ids = pageOfPlaces(places, page).map(({ id }) => id)
  const found = new Map((await readSchedules(connection, ids)).map((schedule) => [schedule.id, schedule]))
  return ids.flatMap((id) => found.get(id) ?? [])
}

/** Reads the id and the instant, if there is one. */
function placeIn(row: string): SchedulePlace {
  const space = row.indexOf(" ")
  if (space < 0) return { id: row, at: null }
  const at = instantIn(row.slice(space + 1))
  // Not an instant: written by another program.
  return { id: row.slice(0, space), at: Number.isNaN(at) ? null : at }
}

export async function countSchedules(
  connection: Connection,
  filter: ScheduleFilter,
  limit: number,
): Promise<ScheduleCounted> {
  const rows = await search<ScheduleCount>(connection, filter, { orderBy: "none", after: null, limit })
  return scheduleCountsOf(rows, limit)
}

/** A search for a page, or only for counts. */
type Search = Omit<SchedulePage, "orderBy"> & { readonly orderBy: SchedulePage["orderBy"] | "none" }

async function readSchedules(connection: Connection, ids: readonly string[]): Promise<readonly Schedule[]> {
  const found: Schedule[] = []
  for (const slice of slicesOf(ids))
    found.push(...(await connection.run<readonly ScheduleRow[]>(READ, slice)).map(scheduleOf))
  return found
}

function search<Row extends Reply>(
  connection: Connection,
  filter: ScheduleFilter,
  page: Search,
): Promise<readonly Row[]> {
  return filter.ids === undefined
    ? searchList(connection, filter, page)
    : searchIds(connection, filter, filter.ids, page)
}

/** Ordered by id, the search ends when the page is full. In another order, all schedules are examined. */
async function searchList<Row extends Reply>(
  connection: Connection,
  filter: ScheduleFilter,
  { orderBy, after, limit }: Search,
): Promise<readonly Row[]> {
  const found: Row[] = []
  const isById = orderBy === "id"
  for (let last = isById ? (after?.id ?? null) : null; !isById || found.length < limit; ) {
    const [lastId, rows] = await connection.run<Answer<Row>>(LIST, [
      ...listFor(filter),
      marked(last),
      EXAMINED_MAX,
      // Complete schedules are large, so a script returns at most SLICE of them.
      isById ? Math.min(limit - found.length, SLICE) : EXAMINED_MAX,
      ...wantedArgs(filter, orderBy),
    ])
    found.push(...rows)
    if (lastId === null) break
    last = lastId
  }
  return found
}

async function searchIds<Row extends Reply>(
  connection: Connection,
  filter: ScheduleFilter,
  ids: readonly string[],
  { orderBy }: Search,
): Promise<readonly Row[]> {
  const found: Row[] = []
  for (const slice of slicesOf([...new Set(ids)]))
    found.push(...(await connection.run<Answer<Row>>(CHOOSE, [...wantedArgs(filter, orderBy), ...slice]))[1])
  return found
}

/** The shortest list that contains every schedule the filter can match. */
function listFor({ tag, owner, task }: ScheduleFilter): readonly [kind: string, name: string] {
  if (tag !== undefined) return [":schedule-ids:tag:", tag]
  if (owner !== undefined) return [":schedule-ids:owner:", owner]
  return task === undefined ? [":schedule-ids", ""] : [":schedule-ids:task:", task]
}

/** The arguments for `read_wanted` of `lua/wanted-schedules.ts`. */
function wantedArgs(filter: ScheduleFilter, orderBy: Search["orderBy"]): readonly string[] {
  const { idPrefix, owner, task, tag, text, states } = filter
  return [
    ...[idPrefix, owner, task, tag].map((part) => marked(part ?? null)),
    marked(text === undefined ? null : lowerCase(text)),
    states === undefined ? "" : `,${states.join(",")},`,
    orderBy,
  ]
}
