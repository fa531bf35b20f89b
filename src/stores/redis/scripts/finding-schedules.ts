import type { Schedule } from "../../../core/schedule.ts"
import type { ScheduleCounts } from "../../../core/schedule-state.ts"
import type { ScheduleFilter, SchedulePage } from "../../../store/store.ts"
import { scheduleCountsOf } from "../../kit/counts.ts"
import { lowerCase, pageOfPlaces, pageOfSchedules, type SchedulePlace } from "../../kit/schedule-pages.ts"
import type { Connection, Reply } from "../connection.ts"
import { instantIn } from "../instants.ts"
import { INSTANTS } from "../lua/instants.ts"
import { KEYS } from "../lua/keys.ts"
import { SCHEDULES } from "../lua/schedules.ts"
import { WANTED_ARGS, WANTED_SCHEDULES } from "../lua/wanted-schedules.ts"
import { SCHEDULE_FIELDS, type ScheduleRow, scheduleOf } from "../schedule-rows.ts"
import { marked, SLICE, scriptOf, slicesOf } from "../script.ts"

const READING = `
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
`

const READ = scriptOf(KEYS, SCHEDULES, READING, "return read_schedules(ARGV)")

// In the order of ids they are read at once; in any other, first their places; in none, only how many are in each state. Answers
// the last id looked at, too: as soon as enough are found, no more are looked at.
const CHOOSING = `
local function choose(ids, wanted, most)
  local found, last, counts = {}, false, {}
  for _, id in ipairs(ids) do
    if #found >= most then
      break
    end
    last = id
    if not is_wanted(id, wanted) then
      -- Another.
    elseif wanted.order_by == 'id' then
      found[#found + 1] = read_schedule(id)
    elseif wanted.order_by == 'none' then
      local state = state_of(schedule_key(id))
      -- One that isn't there looks broken.
      if state ~= 'broken' or call('EXISTS', schedule_key(id)) == 1 then
        counts[state] = (counts[state] or 0) + 1
      end
    else
      found[#found + 1] = place_of(id, wanted.order_by)
    end
  end
  for state, count in pairs(counts) do
    found[#found + 1] = { state, count }
  end
  return { last, found }
end
`
const PIECES = [KEYS, INSTANTS, SCHEDULES, WANTED_SCHEDULES, READING, CHOOSING]

// Arguments: the list, the id before the first, how many to look at, how many to find, and what is wanted. Answers the last id looked
// at, and those that are wanted.
const LIST = scriptOf(
  ...PIECES,
  `
local after = ARGV[3] == '' and '-' or '(' .. text_of(ARGV[3])
local ids = call('ZRANGEBYLEX', prefix .. ARGV[1] .. ARGV[2], after, '+', 'LIMIT', 0, ARGV[4])
return choose(ids, read_wanted(6), tonumber(ARGV[5]))
`,
)

// Arguments: what is wanted, and the ids to look at.
const CHOOSE = scriptOf(
  ...PIECES,
  `
local ids = {}
for index = ${WANTED_ARGS + 1}, #ARGV do
  ids[#ids + 1] = ARGV[index]
end
return choose(ids, read_wanted(1), #ids)
`,
)

type CountRow = readonly [state: string, count: number]
type Answer<Row> = readonly [lastId: string | null, rows: readonly Row[]]

/** More at a time than are written: to look at one takes some microseconds. */
const LOOKED_AT = 500

export async function findSchedules(
  connection: Connection,
  filter: ScheduleFilter,
  page: SchedulePage,
): Promise<readonly Schedule[]> {
  if (page.orderBy === "id") {
    const rows = await lookFor<ScheduleRow>(connection, filter, page)
    return pageOfSchedules(rows.map(scheduleOf), page)
  }
  const rows = await lookFor<string>(connection, filter, page)
  const places = rows.map(placeIn)
  const ids = pageOfPlaces(places, page).map(({ id }) => id)
  const found = new Map((await readSchedules(connection, ids)).map((schedule) => [schedule.id, schedule]))
  return ids.flatMap((id) => found.get(id) ?? [])
}

/** Of the id and the instant, if there is one. */
function placeIn(row: string): SchedulePlace {
  const space = row.indexOf(" ")
  if (space < 0) return { id: row, at: null }
  const at = instantIn(row.slice(space + 1))
  // Written without our checks, and no instant.
  return { id: row.slice(0, space), at: Number.isNaN(at) ? null : at }
}

export async function countSchedules(
  connection: Connection,
  filter: ScheduleFilter,
  limit: number,
): Promise<ScheduleCounts> {
  const rows = await lookFor<CountRow>(connection, filter, { orderBy: "none", after: null, limit })
  return scheduleCountsOf(rows, limit)
}

/** What is looked for: a page, or only states. */
type Sought = Omit<SchedulePage, "orderBy"> & { readonly orderBy: SchedulePage["orderBy"] | "none" }

async function readSchedules(connection: Connection, ids: readonly string[]): Promise<readonly Schedule[]> {
  const found: Schedule[] = []
  for (const slice of slicesOf(ids))
    found.push(...(await connection.run<readonly ScheduleRow[]>(READ, slice)).map(scheduleOf))
  return found
}

function lookFor<Row extends Reply>(
  connection: Connection,
  filter: ScheduleFilter,
  page: Sought,
): Promise<readonly Row[]> {
  return filter.ids === undefined
    ? lookInList(connection, filter, page)
    : lookAmong(connection, filter, filter.ids, page)
}

/** In the order of ids a page ends as soon as it is full; in any other, all have to be looked at. */
async function lookInList<Row extends Reply>(
  connection: Connection,
  filter: ScheduleFilter,
  { orderBy, after, limit }: Sought,
): Promise<readonly Row[]> {
  const found: Row[] = []
  const isById = orderBy === "id"
  for (let last = isById ? (after?.id ?? null) : null; !isById || found.length < limit; ) {
    const [lastId, rows] = await connection.run<Answer<Row>>(LIST, [
      ...listFor(filter),
      marked(last),
      LOOKED_AT,
      // Whole schedules are large: no more of them at a time.
      isById ? Math.min(limit - found.length, SLICE) : LOOKED_AT,
      ...wantedArgs(filter, orderBy),
    ])
    found.push(...rows)
    if (lastId === null) break
    last = lastId
  }
  return found
}

async function lookAmong<Row extends Reply>(
  connection: Connection,
  filter: ScheduleFilter,
  ids: readonly string[],
  { orderBy }: Sought,
): Promise<readonly Row[]> {
  const found: Row[] = []
  for (const slice of slicesOf([...new Set(ids)]))
    found.push(...(await connection.run<Answer<Row>>(CHOOSE, [...wantedArgs(filter, orderBy), ...slice]))[1])
  return found
}

/** The shortest that holds all that can match. */
function listFor({ tag, owner, task }: ScheduleFilter): readonly [kind: string, name: string] {
  if (tag !== undefined) return [":schedule-ids:tag:", tag]
  if (owner !== undefined) return [":schedule-ids:owner:", owner]
  return task === undefined ? [":schedule-ids", ""] : [":schedule-ids:task:", task]
}

/** As `read_wanted` of `lua/wanted-schedules.ts` takes them. */
function wantedArgs(filter: ScheduleFilter, orderBy: Sought["orderBy"]): readonly string[] {
  const { idPrefix, owner, task, tag, text, states } = filter
  return [
    ...[idPrefix, owner, task, tag].map((part) => marked(part ?? null)),
    marked(text === undefined ? null : lowerCase(text)),
    states === undefined ? "" : `,${states.join(",")},`,
    orderBy,
  ]
}
