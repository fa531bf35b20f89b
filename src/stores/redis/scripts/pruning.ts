import type { Pruned, PruneRequest } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { KEYS } from "../lua/keys.ts"
import { RUNS } from "../lua/runs.ts"
import { scriptOf } from "../script.ts"

// Arguments: how old, how many of each schedule stay, how many at most, and how many of the oldest were kept already.
// Answers how many went, how many stay, and whether there are more to look at.
const PRUNE_RUNS = scriptOf(
  RUNS,
  `
local LOOKED_AT = 500
local oldest_kept = now_ms() - ARGV[1]
local keep, limit, from = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local completed = prefix .. ':history:completed'
local ids = call('ZRANGEBYSCORE', completed, '-inf', '(' .. oldest_kept, 'LIMIT', from, LOOKED_AT)

-- Counted from the newest, so that those which go don't change it for those which stay.
local function stays(id, schedule)
  return schedule and keep > 0 and call('ZREVRANK', prefix .. ':history:completed:' .. schedule, id) < keep
end

local function remove(id, run)
  leave(id, run)
  place_stored(id, run, false)
  call('UNLINK', run_key(id), prefix .. ':attempts:' .. id, prefix .. ':logs:' .. id)
end

local deleted, kept, schedules = 0, 0, {}
for _, id in ipairs(ids) do
  if deleted == limit then
    break
  end
  local run = read_run(id)
  if not run then
    put(completed, id, false)
  elseif stays(id, run.schedule_id) then
    kept = kept + 1
  else
    remove(id, run)
    deleted = deleted + 1
    if run.schedule_id then
      schedules[run.schedule_id] = true
    end
  end
end
write_counts()
-- Of a schedule that is gone with its last run nothing is left.
for schedule in pairs(schedules) do
  if call('EXISTS', prefix .. ':schedules:' .. schedule, prefix .. ':history:created:' .. schedule) == 0 then
    call('HDEL', prefix .. ':successes', schedule)
  end
end
return { deleted, kept, #ids == LOOKED_AT and 1 or 0 }
`,
)

// Arguments: silent for how long, how many at most.
const PRUNE_WORKERS = scriptOf(
  KEYS,
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
  const { olderThanMs, keepPerSchedule, silentForMs, limit } = request
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
  return { runs, workers }
}
