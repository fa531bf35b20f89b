import type { NewRun } from "../../../core/run/run.ts"
import type { EnqueueAnswer } from "../../../store/store.ts"
import { sendIsolated, unstorableRun } from "../../kit/isolation.ts"
import type { Connection } from "../connection.ts"
import { NEW_RUNS } from "../lua/new-runs.ts"
import { NewRunArgs } from "../new-run-args.ts"
import { answeringOnce, answersOf, scriptOf, slicesOf } from "../script.ts"

// Returns for each run 1: stored; 0: its id exists already; or the id of the run that holds its live key.
const ENQUEUE = scriptOf(
  [NEW_RUNS],
  `
local places = {}
local at, last = read_new_kinds(1), #ARGV
while at <= last do
  places[#places + 1] = at
  at = end_of(at)
end
prefetch(places)

local has_pending = false

local function enqueue(at)
  if is_stored(ARGV[at + 1]) then
    return 0
  end
  local holder = live_keys[at] and holder_of(live_keys[at])
  if holder then
    return holder
  end
  add_run(at)
  local kind = kinds[ARGV[at]]
  if kind.state == 'pending' then
    has_pending = true
    local key = kind.schedule_id and prefix .. ':schedules:' .. kind.schedule_id
    -- A run may outlive its schedule. HSET must not create the schedule again.
    if key and call('EXISTS', key) == 1 then
      local count = number_or(fields_in(key, 'run_count')[1], 0)
      redis.pcall('HSET', key, unpack(fields_of_count(count + 1, ARGV[at + 1])))
    end
  end
  return 1
end

local answers = {}
for index, place in ipairs(places) do
  answers[index] = enqueue(place)
end
write_places()
if has_pending then
  call('PUBLISH', prefix .. ':hints', 'runs')
end
return answers
`,
)

export function enqueueRuns(
  connection: Connection,
  runs: readonly NewRun[],
): Promise<readonly EnqueueAnswer[]> {
  return answersOf(slicesOf(runs), (slice) =>
    sendIsolated(slice, (some) => enqueueSlice(connection, some), unstorableRun),
  )
}

async function enqueueSlice(
  connection: Connection,
  runs: readonly NewRun[],
): Promise<readonly EnqueueAnswer[]> {
  const newRuns = new NewRunArgs()
  const args: (string | number)[] = []
  for (const run of runs) newRuns.push(args, run)
  const all = [...newRuns.kinds, ...args]
  const replies = await connection.once<readonly (string | number)[]>(answeringOnce(ENQUEUE), all)
  return runs.map((run, index) => answerOf(run.id, replies[index]!))
}

function answerOf(runId: string, reply: string | number): EnqueueAnswer {
  if (typeof reply === "string") return { outcome: "held", runId: reply }
  return { outcome: reply === 1 ? "created" : "exists", runId }
}
