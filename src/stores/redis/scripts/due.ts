import type { Instant } from "../../../core/instant.ts"
import type { FireFacts } from "../../../core/plan.ts"
import type { RunRef, RunState } from "../../../core/run.ts"
import type { Schedule } from "../../../core/schedule.ts"
import type { DueRequest, DueSchedules } from "../../../store/store.ts"
import type { Crew } from "../../shared/crew.ts"
import type { Connection } from "../connection.ts"
import { FACTS } from "../lua/facts.ts"
import { KEYS } from "../lua/keys.ts"
import { RUNS } from "../lua/runs.ts"
import { SCHEDULES } from "../lua/schedules.ts"
import { SCHEDULE_FIELDS, scheduleOf } from "../schedule-rows.ts"
import { SLICE, scriptOf, slicesOf } from "../script.ts"

/** So many of those due are chosen from. */
const AMONG = 5_000
/** Fewer are not worth the way. */
const SHARE_MIN = 10

// Arguments: how many, how far ahead, how many others look at the same moment. Answers now, the next instant and how many are due
// then, whether there are more, the number of this look, and each schedule's fields and facts. Each look takes a number, and of
// the longest due the block that it falls on, which is its share of them: so those who look at the same moment read different ones.
const DUE = scriptOf(
  RUNS,
  FACTS,
  SCHEDULES,
  `
local now = now_ms()
local limit = tonumber(ARGV[1])
local horizon = whole(now + ARGV[2])
local due = prefix .. ':due'

local found = call('ZCOUNT', due, '-inf', horizon)
local among = math.min(found, ${AMONG})
local share = math.min(limit, math.max(math.ceil(among / ARGV[3]), ${SHARE_MIN}))
local turn = call('INCR', prefix .. ':turns')
local from = turn % math.max(math.ceil(among / math.max(share, 1)), 1) * share
local schedules = {}
if limit > 0 and found > 0 then
  local ids = call('ZRANGE', due, from, math.min(from + share, found) - 1)
  local facts = facts_by_schedule(ids)
  for index, id in ipairs(ids) do
    local fields = call('HMGET', schedule_key(id), ${SCHEDULE_FIELDS.map((field) => `'${field}'`).join(", ")})
    if fields[1] then
      fields[4], fields[5] = id, facts[index]
      schedules[#schedules + 1] = fields
    end
  end
end
local next_due = call('ZRANGEBYSCORE', due, '(' .. horizon, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
local next_count = next_due and call('ZCOUNT', due, next_due, next_due) or 0
return { now, next_due or false, next_count, found > #schedules and 1 or 0, turn, schedules }
`,
)

const SUCCESSES = scriptOf(KEYS, "return call('HMGET', prefix .. ':successes', unpack(ARGV))")

type DueReply = readonly [
  now: number,
  nextDueAt: string | null,
  nextDueCount: number,
  hasMore: number,
  turn: number,
  schedules: readonly DueRow[],
]
type DueRow = readonly [
  version: string,
  definition: string,
  progress: string,
  id: string,
  unfinished: readonly UnfinishedRow[],
]
type UnfinishedRow = readonly [
  state: RunState,
  attempt: string | null,
  failures: string | null,
  lost: string | null,
  id: string,
]

export async function dueSchedules(
  connection: Connection,
  crew: Crew,
  { limit, aheadMs = 0 }: DueRequest,
): Promise<DueSchedules> {
  const args = [Math.min(limit, SLICE), aheadMs, crew.size]
  const [now, nextDueAt, nextDueCount, hasMore, turn, rows] = await connection.run<DueReply>(DUE, args)
  crew.noteTurn(turn)
  const due = rows.map((row) => ({ schedule: scheduleOf(row), unfinished: row[4].map(refOf) }))
  const successes = await successesFor(
    connection,
    due.flatMap(({ schedule }) => schedule.dependsOn.map((each) => each.scheduleId)),
  )
  return {
    now,
    // Whoever is given less than they asked for comes again at once while there is more.
    nextDueAt: hasMore === 1 && rows.length < limit ? now : nextDueAt === null ? null : Number(nextDueAt),
    nextDueCount: Math.min(nextDueCount, limit),
    due: due.map(({ schedule, unfinished }) => ({
      schedule,
      facts: { unfinished, lastSuccessAt: lastSuccessesOf(schedule, successes) },
    })),
  }
}

type Successes = ReadonlyMap<string, Instant | null>

const NO_SUCCESSES: FireFacts["lastSuccessAt"] = {}

function lastSuccessesOf({ dependsOn }: Schedule, successes: Successes): FireFacts["lastSuccessAt"] {
  if (dependsOn.length === 0) return NO_SUCCESSES
  return Object.fromEntries(
    dependsOn.map(({ scheduleId }) => [scheduleId, successes.get(scheduleId) ?? null]),
  )
}

function refOf([state, attempt, failures, lost, id]: UnfinishedRow): RunRef {
  return { id, state, attempt: Number(attempt), failures: Number(failures), lost: Number(lost) }
}

/** Asked only for schedules that depend on others, which few do. */
async function successesFor(connection: Connection, scheduleIds: readonly string[]): Promise<Successes> {
  const found = new Map<string, Instant | null>()
  for (const slice of slicesOf([...new Set(scheduleIds)])) {
    const replies = await connection.run<readonly (string | null)[]>(SUCCESSES, slice)
    slice.forEach((id, index) => {
      const at = replies[index]
      found.set(id, at === null || at === undefined ? null : Number(at))
    })
  }
  return found
}
