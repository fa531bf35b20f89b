import type { DueFacts } from "../../../core/planning/plan.ts"
import { DATE_MAX } from "../../../core/records/valid-records.ts"
import type { RunRef, RunState } from "../../../core/run/run.ts"
import type { Schedule } from "../../../core/schedule/schedule.ts"
import type { Instant } from "../../../core/time/instant.ts"
import type { DueRequest, DueSchedules } from "../../../store/store.ts"
import {
  DIVIDED_MAX,
  nextOf,
  SHARE_AHEAD_MAX_MS,
  SHARE_MS,
  SHARE_MS_EACH,
  SHARES_BESIDE_OTHERS,
} from "../../kit/shares.ts"
import type { Connection } from "../connection.ts"
import { instantIn } from "../instants.ts"
import type { LossDetector } from "../loss-detector.ts"
import { FACTS } from "../lua/facts.ts"
import { KEYS } from "../lua/keys.ts"
import { SCHEDULES } from "../lua/schedules.ts"
import { SCHEDULE_FIELDS, type ScheduleRow, scheduleOf } from "../schedule-rows.ts"
import { SLICE, scriptOf, slicesOf } from "../script.ts"

// Arguments: the limit, how far ahead to read, the reader. Returns now, the next due instant and how many schedules are due then,
// when to read again if some were not returned, and the fields and facts of each schedule. A schedule's share is the first digit
// of the hash of its id. The hash `:shares` stores the reader that has a share, and until when. See `Share`.
const DUE = scriptOf(
  [FACTS, SCHEDULES],
  `
local now = now_ms()
local limit = tonumber(ARGV[1])
local horizon = whole(now + ARGV[2])
local due = prefix .. ':due'
local shares = prefix .. ':shares'

local function divided(ids)
  local share_of, filled, by_name = {}, {}, {}
  for index, id in ipairs(ids) do
    local name = string.sub(redis.sha1hex(id), 1, 1)
    share_of[index] = name
    if not by_name[name] then
      by_name[name] = { name = name, due = 0 }
      filled[#filled + 1] = by_name[name]
    end
    by_name[name].due = by_name[name].due + 1
  end
  return share_of, filled
end

-- Takes the fullest free shares. Also returns how many schedules other readers have, and until when.
local function take_shares(filled, share_ms)
  local free, due_of_others, others_until, taken = {}, 0, nil, {}
  for _, share in ipairs(filled) do
    local given = call('HGET', shares, share.name) or ''
    local to, given_until = string.match(given, '^(%d+) (%d+)$')
    given_until = tonumber(given_until or 0)
    if to == ARGV[3] or given_until <= now then
      free[#free + 1] = share
    else
      due_of_others = due_of_others + share.due
      others_until = math.min(others_until or given_until, given_until)
    end
  end
  table.sort(free, function(a, b) return a.due > b.due or a.due == b.due and a.name < b.name end)
  local most = due_of_others > 0 and ${SHARES_BESIDE_OTHERS} or #free
  local count = 0
  for index = 1, math.min(#free, most) do
    if count >= limit then
      break
    end
    count = count + free[index].due
    taken[free[index].name] = true
    call('HSET', shares, free[index].name, ARGV[3] .. ' ' .. whole(now + share_ms))
  end
  return taken, due_of_others, others_until
end

local found = call('ZCOUNT', due, '-inf', horizon)
local schedules, again = {}, false
if limit > 0 and found > 0 then
  local first = call('ZRANGEBYSCORE', due, '-inf', horizon, 'LIMIT', 0, ${DIVIDED_MAX})
  local share_of, filled = divided(first)
  local share_ms = math.max(${SHARE_MS} + #first * ${SHARE_MS_EACH}, math.min(ARGV[2] / 2, ${SHARE_AHEAD_MAX_MS}))
  local taken, due_of_others, others_until = take_shares(filled, share_ms)
  local ids = {}
  for index, id in ipairs(first) do
    if taken[share_of[index]] and #ids < limit then
      ids[#ids + 1] = id
    end
  end
  local facts = #ids > 0 and facts_by_schedule(ids) or {}
  for index, id in ipairs(ids) do
    local fields = fields_in(schedule_key(id), ${SCHEDULE_FIELDS.map((field) => `'${field}'`).join(", ")})
    if fields[1] or fields[2] then
      fields[1] = version_of(schedule_key(id), fields[1])
      fields[#fields + 1] = id
      fields[#fields + 1] = facts[index]
      schedules[#schedules + 1] = fields
    end
  end
  if #ids > 0 and #ids + due_of_others < found then
    again = now
  elseif others_until then
    again = others_until
  end
end
local next_due = call('ZRANGEBYSCORE', due, '(' .. horizon, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
local next_count = next_due and call('ZCOUNT', due, next_due, next_due) or 0
local mark, version = call('HGET', prefix .. ':schema', 'mark'), tonumber(call('GET', prefix .. ':versions') or 0)
return { now, next_due or false, next_count, again, schedules, mark, version }
`,
)

const SUCCESSES = scriptOf([KEYS], "return call('HMGET', prefix .. ':successes', unpack(ARGV))")

type DueReply = readonly [
  now: number,
  nextDueAt: string | null,
  nextDueCount: number,
  readAgainAt: number | null,
  schedules: readonly DueRow[],
  mark: string | null,
  version: number,
]
type DueRow = readonly [...ScheduleRow, unfinished: readonly UnfinishedRow[]]
type UnfinishedRow = readonly [
  state: RunState,
  attempt: string | null,
  failures: string | null,
  lost: string | null,
  id: string,
]

/** Also detects lost writes. Without this, lost schedules might not fire until the next heartbeat detects the loss. */
export async function dueSchedules(
  { connection, lossDetector }: { connection: Connection; lossDetector: LossDetector },
  reader: number,
  { limit, aheadMs = 0 }: DueRequest,
): Promise<DueSchedules> {
  const args = [Math.min(limit, SLICE), aheadMs, reader]
  const [now, next, nextCount, readAgainAt, rows, mark, version] = await connection.run<DueReply>(DUE, args)
  lossDetector.compare(mark, version)
  const due = rows.map((row) => ({ schedule: scheduleOf(row), unfinished: row[11].map(refOf) }))
  const successes = await successesFor(
    connection,
    due.flatMap(({ schedule }) => schedule.dependsOn.map((each) => each.scheduleId)),
  )
  return {
    now,
    ...nextOf(
      { at: dateOrNull(next), count: Math.min(nextCount, limit) },
      rows.length < limit ? readAgainAt : null,
    ),
    due: due.map(({ schedule, unfinished }) => ({
      schedule,
      facts: { unfinished, lastSuccessAt: lastSuccessesOf(schedule, successes) },
    })),
  }
}

/** Null for a score beyond any date, such as infinity, which another program wrote: it never comes. */
function dateOrNull(score: string | null): Instant | null {
  return score !== null && Number(score) <= DATE_MAX ? Number(score) : null
}

type Successes = ReadonlyMap<string, Instant | null>

const NO_SUCCESSES: DueFacts["lastSuccessAt"] = {}

function lastSuccessesOf({ dependsOn }: Schedule, successes: Successes): DueFacts["lastSuccessAt"] {
  if (dependsOn.length === 0) return NO_SUCCESSES
  return Object.fromEntries(
    dependsOn.map(({ scheduleId }) => [scheduleId, successes.get(scheduleId) ?? null]),
  )
}

function refOf([state, attempt, failures, lost, id]: UnfinishedRow): RunRef {
  return { id, state, attempt: Number(attempt), failures: Number(failures), lost: Number(lost) }
}

/** Read only for schedules that depend on others; few do. */
async function successesFor(connection: Connection, scheduleIds: readonly string[]): Promise<Successes> {
  const found = new Map<string, Instant | null>()
  for (const slice of slicesOf([...new Set(scheduleIds)])) {
    const replies = await connection.run<readonly (string | null)[]>(SUCCESSES, slice)
    slice.forEach((id, index) => {
      const at = replies[index]
      found.set(id, instantIn(at))
    })
  }
  return found
}
