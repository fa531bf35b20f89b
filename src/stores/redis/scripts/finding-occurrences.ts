import { storedJson } from "../../../core/json.ts"
import type { Missed, RunState } from "../../../core/run.ts"
import type { OccurrencePage, OccurrenceRecord } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { RUNS } from "../lua/runs.ts"
import { SLICE, scriptOf } from "../script.ts"

// Arguments: the schedule, the instant before the first; the last one of the page before, or nothing; how many at most. Of the
// same instant all are looked at: they are few, and only their ids tell which of them were in the page before. An unfinished run
// that holds its schedule's key alone is in no list yet, and comes last.
const OCCURRENCES = scriptOf(
  RUNS,
  `
local of_schedule = SCHEDULED_OF .. ARGV[1]
local newest = ARGV[3] == '' and '+inf' or ARGV[3]
local limit, found, skip = tonumber(ARGV[5]), {}, 0

local function is_before(id, scheduled_for)
  return ARGV[3] == '' or tonumber(scheduled_for) < tonumber(ARGV[3]) or (scheduled_for == ARGV[3] and id < ARGV[4])
end

while #found < limit do
  local page = call('ZREVRANGEBYSCORE', of_schedule, newest, '(' .. ARGV[2], 'WITHSCORES', 'LIMIT', skip, limit)
  for at = 1, #page, 2 do
    local id, scheduled_for = page[at], page[at + 1]
    local is_asked = #found < limit and is_before(id, scheduled_for)
    local run = is_asked and call('HMGET', RUNS .. id, 'state', 'more')
    if run and run[1] then
      found[#found + 1] = { id, run[1], run[2], scheduled_for }
    end
  end
  if #page < 2 * limit then
    break
  end
  skip = skip + limit
end
local id, run = single_of(OWN_KEY .. ARGV[1])
if run and run.scheduled_for and tonumber(run.scheduled_for) > tonumber(ARGV[2]) and is_before(id, run.scheduled_for) then
  found[#found + 1] = { id, run.state, call('HGET', RUNS .. id, 'more'), run.scheduled_for }
end
return found
`,
)

type Row = readonly [id: string, state: RunState, more: string | null, scheduledFor: string]

export async function findOccurrences(
  connection: Connection,
  { scheduleId, after, before, limit }: OccurrencePage,
): Promise<readonly OccurrenceRecord[]> {
  const found: OccurrenceRecord[] = []
  let last = before
  while (found.length < limit) {
    const wanted = Math.min(limit - found.length, SLICE)
    const args = [scheduleId, after, last?.at ?? "", last?.id ?? "", wanted]
    const rows = await connection.run<readonly Row[]>(OCCURRENCES, args)
    const records = rows.map(recordOf).sort(newestFirst).slice(0, wanted)
    found.push(...records)
    if (records.length < wanted) break
    const { scheduledFor: at, id } = found.at(-1)!
    last = { at, id }
  }
  return found
}

function newestFirst(a: OccurrenceRecord, b: OccurrenceRecord): number {
  return b.scheduledFor - a.scheduledFor || (a.id < b.id ? 1 : -1)
}

function recordOf([id, state, more, scheduledFor]: Row): OccurrenceRecord {
  return { id, state, missed: missedOf(more), scheduledFor: Number(scheduledFor) }
}

/** One that can't be read stands for its own instant. */
function missedOf(text: string | null): Missed | null {
  try {
    return text === null ? null : ((storedJson(text) as { missed?: Missed }).missed ?? null)
  } catch {
    return null
  }
}
