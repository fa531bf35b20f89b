import type { Schedule } from "../../../core/schedule.ts"
import type { ScheduleFilter } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { KEYS } from "../lua/keys.ts"
import { SCHEDULES } from "../lua/schedules.ts"
import { SCHEDULE_FIELDS, type ScheduleRow, scheduleOf } from "../schedule-rows.ts"
import { marked, SLICE, scriptOf, slicesOf } from "../script.ts"

const READING = `
local function read_schedules(ids)
  local found = {}
  for _, id in ipairs(ids) do
    local fields = fields_in(schedule_key(id), ${SCHEDULE_FIELDS.map((field) => `'${field}'`).join(", ")})
    if fields[1] or fields[2] then
      fields[1] = version_of(schedule_key(id), fields[1])
      fields[#fields + 1] = id
      found[#found + 1] = fields
    end
  end
  return found
end
`

// Arguments: the list, the id before the first, how many. Answers the last id looked at, and the schedules.
const LIST = scriptOf(
  KEYS,
  SCHEDULES,
  READING,
  `
local after = ARGV[3] == '' and '-' or '(' .. text_of(ARGV[3])
local ids = call('ZRANGEBYLEX', prefix .. ARGV[1] .. ARGV[2], after, '+', 'LIMIT', 0, ARGV[4])
return { ids[#ids] or false, read_schedules(ids) }
`,
)

const READ = scriptOf(KEYS, SCHEDULES, READING, "return read_schedules(ARGV)")

interface Page {
  readonly afterId: string | null
  readonly limit: number
}

export async function findSchedules(
  connection: Connection,
  filter: ScheduleFilter,
  page: Page,
): Promise<readonly Schedule[]> {
  return filter.ids === undefined
    ? listSchedules(connection, filter, page)
    : schedulesById(connection, filter, page)
}

async function listSchedules(connection: Connection, filter: ScheduleFilter, { afterId, limit }: Page) {
  const found: Schedule[] = []
  const list = listFor(filter)
  let after = afterId
  while (found.length < limit) {
    const wanted = Math.min(limit - found.length, SLICE)
    const [lastId, rows] = await connection.run<readonly [string | null, readonly ScheduleRow[]]>(LIST, [
      ...list,
      marked(after),
      wanted,
    ])
    found.push(...rows.map(scheduleOf).filter((schedule) => isWanted(schedule, filter)))
    if (lastId === null) break
    after = lastId
  }
  return found
}

/** The shortest that holds all that can match. */
function listFor({ tag, owner, task }: ScheduleFilter): readonly [kind: string, name: string] {
  if (tag !== undefined) return [":schedule-ids:tag:", tag]
  if (owner !== undefined) return [":schedule-ids:owner:", owner]
  return task === undefined ? [":schedule-ids", ""] : [":schedule-ids:task:", task]
}

async function schedulesById(connection: Connection, filter: ScheduleFilter, { afterId, limit }: Page) {
  const found: Schedule[] = []
  const ids = [...new Set(filter.ids)].filter((id) => afterId === null || id > afterId).sort()
  for (const slice of slicesOf(ids)) {
    const rows = await connection.run<readonly ScheduleRow[]>(READ, slice)
    found.push(...rows.map(scheduleOf).filter((schedule) => isWanted(schedule, filter)))
    if (found.length >= limit) break
  }
  return found.slice(0, limit)
}

function isWanted(schedule: Schedule, { owner, task, tag }: ScheduleFilter): boolean {
  return (
    (owner === undefined || schedule.owner === owner) &&
    (task === undefined || schedule.task === task) &&
    (tag === undefined || schedule.tags.includes(tag))
  )
}
