import { UNFINISHED_FACTS_MAX } from "../../../core/plan.ts"
import type { RunRef, RunState } from "../../../core/run.ts"
import { concurrencyKeyOf } from "../../../core/schedule.ts"
import type { DueRequest, DueSchedules } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { KEYS } from "../lua/keys.ts"
import { SCHEDULES } from "../lua/schedules.ts"
import { SCHEDULE_FIELDS, type ScheduleRow, scheduleOf } from "../schedule-rows.ts"
import { SLICE, scriptOf } from "../script.ts"

/** So many of those due are chosen from. */
const AMONG = 5_000

// Arguments: how many, how far ahead. Answers now, the next instant and how many are due then, whether there are more, and each
// schedule's fields and facts. Each look takes a number, and of the longest due the block that it falls on: so those who look at
// the same moment read different ones.
const DUE = scriptOf(
  KEYS,
  SCHEDULES,
  `
local now = now_ms()
local limit = tonumber(ARGV[1])
local horizon = whole(now + ARGV[2])
local due = prefix .. ':due'
local UNFINISHED = prefix .. ':unfinished:${concurrencyKeyOf("")}'

local function facts_of(id)
  local facts = {}
  for _, run in ipairs(call('ZRANGE', UNFINISHED .. id, 0, ${UNFINISHED_FACTS_MAX - 1})) do
    local fields = call('HMGET', prefix .. ':runs:' .. run, 'state', 'attempt', 'failures', 'lost')
    fields[5] = run
    facts[#facts + 1] = fields
  end
  return facts
end

local found = call('ZCOUNT', due, '-inf', horizon)
local blocks = math.max(math.ceil(math.min(found, ${AMONG}) / math.max(limit, 1)), 1)
local from = call('INCR', prefix .. ':turns') % blocks * limit
local schedules = {}
if limit > 0 and found > 0 then
  for _, id in ipairs(call('ZRANGE', due, from, math.min(from + limit, found) - 1)) do
    local fields = call('HMGET', schedule_key(id), ${SCHEDULE_FIELDS.map((field) => `'${field}'`).join(", ")})
    if fields[1] then
      fields[4] = facts_of(id)
      schedules[#schedules + 1] = fields
    end
  end
end
local next_due = call('ZRANGEBYSCORE', due, '(' .. horizon, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
local next_count = next_due and call('ZCOUNT', due, next_due, next_due) or 0
return { now, next_due or false, next_count, found > #schedules and 1 or 0, schedules }
`,
)

const SUCCESSES = scriptOf(KEYS, "return call('HMGET', prefix .. ':successes', unpack(ARGV))")

type DueReply = readonly [
  now: number,
  nextDueAt: string | null,
  nextDueCount: number,
  hasMore: number,
  schedules: readonly DueRow[],
]
type DueRow = readonly [...ScheduleRow, unfinished: readonly UnfinishedRow[]]
type UnfinishedRow = readonly [
  state: RunState,
  attempt: string | null,
  failures: string | null,
  lost: string | null,
  id: string,
]

export async function dueSchedules(
  connection: Connection,
  { limit, aheadMs = 0 }: DueRequest,
): Promise<DueSchedules> {
  const args = [Math.min(limit, SLICE), aheadMs]
  const [now, nextDueAt, nextDueCount, hasMore, rows] = await connection.run<DueReply>(DUE, args)
  const found = rows.map(([version, definition, progress, unfinished]) => ({
    schedule: scheduleOf([version, definition, progress]),
    unfinished: unfinished.map(refOf),
  }))
  const wanted = new Set(found.flatMap(({ schedule }) => schedule.dependsOn.map((each) => each.scheduleId)))
  const successes = wanted.size === 0 ? NONE : await successesOf(connection, [...wanted])
  return {
    now,
    // Whoever is given less than they asked for comes again at once while there is more.
    nextDueAt: hasMore === 1 && rows.length < limit ? now : nextDueAt === null ? null : Number(nextDueAt),
    nextDueCount: Math.min(nextDueCount, limit),
    due: found.map(({ schedule, unfinished }) => ({
      schedule,
      facts: {
        unfinished,
        lastSuccessAt: Object.fromEntries(
          schedule.dependsOn.map(({ scheduleId }) => [scheduleId, successes.get(scheduleId) ?? null]),
        ),
      },
    })),
  }
}

const NONE: ReadonlyMap<string, number | null> = new Map()

function refOf([state, attempt, failures, lost, id]: UnfinishedRow): RunRef {
  return { id, state, attempt: Number(attempt), failures: Number(failures), lost: Number(lost) }
}

/** Asked only for schedules that depend on others, which few do. */
async function successesOf(connection: Connection, ids: readonly string[]) {
  const found = new Map<string, number | null>()
  for (let from = 0; from < ids.length; from += SLICE) {
    const slice = ids.slice(from, from + SLICE)
    const replies = await connection.run<readonly (string | null)[]>(SUCCESSES, slice)
    slice.forEach((id, index) => {
      const at = replies[index]
      found.set(id, at === null || at === undefined ? null : Number(at))
    })
  }
  return found
}
