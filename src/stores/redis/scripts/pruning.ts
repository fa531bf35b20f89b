import type { Pruned, PruneRequest } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { KEYS } from "../lua/keys.ts"
import { RUNS } from "../lua/runs.ts"
import { scriptOf } from "../script.ts"
import { pruneJournal } from "./journal.ts"

// Arguments: the minimum age, how many to keep for each schedule, the limit, and how many of the oldest were kept by earlier
// calls.
// Returns how many were deleted, how many were kept, and whether there are more to examine.
const PRUNE_RUNS = scriptOf(
  [RUNS],
  `
local EXAMINED_MAX = 500
local oldest_kept = now_ms() - ARGV[1]
local keep, limit, from = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local ids = call('ZRANGEBYSCORE', COMPLETED, '-inf', '(' .. oldest_kept, 'LIMIT', from, EXAMINED_MAX)

local covered = {}
local function covered_until(schedule)
  if covered[schedule] == nil then
    local is_json, progress = pcall(cjson.decode, fields_in(prefix .. ':schedules:' .. schedule, 'progress')[1] or '{}')
    covered[schedule] = is_json and type(progress) == 'table' and tonumber(progress.coveredUntil) or false
  end
  return covered[schedule]
end

-- A plan must find the runs of occurrences that its schedule has not settled yet, or it would fire them again.
local function is_settled(run)
  local scheduled_for, until_then = tonumber(run.scheduled_for), covered_until(run.schedule_id)
  return not (scheduled_for and until_then) or scheduled_for <= until_then
end

-- The rank is counted from the newest run, so deleting older runs does not change it.
local function is_kept(id, run)
  local schedule = run.schedule_id
  if not schedule then
    return false
  end
  local rank = keep > 0 and call('ZREVRANK', COMPLETED_OF .. schedule, id)
  return rank and rank < keep or not is_settled(run)
end

local function remove(id, run)
  leave(id, run)
  unlist_run(id, run)
  if run.schedule_id then
    unlist_in_schedule(id, run)
  end
  call('UNLINK', RUNS .. id, prefix .. ':attempts:' .. id, prefix .. ':logs:' .. id)
end

local deleted, kept, schedules = 0, 0, {}
for _, id in ipairs(ids) do
  if deleted == limit then
    break
  end
  local run = read_run(id)
  if not run then
    take(COMPLETED, id)
  elseif is_kept(id, run) then
    kept = kept + 1
  else
    remove(id, run)
    deleted = deleted + 1
    if run.schedule_id then
      schedules[run.schedule_id] = true
    end
  end
end
write_places()
-- After the last run of a deleted schedule, nothing of the schedule is kept.
for schedule in pairs(schedules) do
  local is_there = call('EXISTS', prefix .. ':schedules:' .. schedule, CREATED_OF .. schedule) > 0
  if not is_there and not single_of(OWN_KEY .. schedule) then
    call('HDEL', prefix .. ':successes', schedule)
  end
end
return { deleted, kept, #ids == EXAMINED_MAX and 1 or 0 }
`,
)

// Arguments: the minimum time since the last heartbeat, the limit.
const PRUNE_WORKERS = scriptOf(
  [KEYS],
  `
local beats = prefix .. ':worker-beats'
local silent = call('ZRANGEBYSCORE', beats, '-inf', '(' .. (now_ms() - ARGV[1]), 'LIMIT', 0, ARGV[2])
for _, id in ipairs(silent) do
  call('DEL', prefix .. ':workers:' .. id)
  call('ZREM', beats, id)
  call('ZREM', prefix .. ':worker-ids', id)
end
return #silent
`,
)

export async function prune(connection: Connection, request: PruneRequest): Promise<Pruned> {
  const { olderThanMs, keepPerSchedule, silentForMs, journalOlderThanMs, limit } = request
  let runs = 0
  let kept = 0
  while (runs < limit) {
    const args = [olderThanMs, keepPerSchedule, limit - runs, kept]
    const [deleted, stayed, hasMore] = await connection.run<readonly [number, number, number]>(
      PRUNE_RUNS,
      args,
    )
    runs += deleted
    kept += stayed
    if (hasMore === 0) break
  }
  const workers = await connection.run<number>(PRUNE_WORKERS, [silentForMs, limit])
  const entries = await pruneJournal(connection, journalOlderThanMs, limit)
  // Buckets of statistics expire by themselves.
  return { runs, workers, entries, buckets: 0 }
}
