import type { FirePlan } from "../../../core/planning/plan.ts"
import type { FireAnswer } from "../../../store/store.ts"
import { sendIsolated, unstorable } from "../../kit/isolation.ts"
import type { Connection } from "../connection.ts"
import { entryArgs } from "../entry-args.ts"
import { ENTRY_ARGS, JOURNAL } from "../lua/journal.ts"
import { NEW_RUNS } from "../lua/new-runs.ts"
import { PROGRESS } from "../lua/progress.ts"
import { SCHEDULES } from "../lua/schedules.ts"
import { NewRunArgs } from "../new-run-args.ts"
import { pushProgress } from "../schedule-rows.ts"
import { answeringOnce, answersOf, SLICE, scriptOf } from "../script.ts"

// Arguments: the number of plans and the kinds of their runs; for each plan the schedule, the expected version, the number of
// runs, whether it has an entry, the progress, the runs, and the entry if it has one.
// Returns for each plan 1: all its runs are new; 0: stale; -1: held; or the list of the runs that are new.
const FIRE = scriptOf(
  [NEW_RUNS, SCHEDULES, PROGRESS, JOURNAL],
  `
local PLAN_HEAD = 4
local DUE = prefix .. ':due'
local version = call('INCRBY', prefix .. ':versions', ARGV[1]) - ARGV[1]
local has_runs, has_sooner, has_entries = false, false, false

local plans, runs, entries = {}, {}, {}
local at, last = read_new_kinds(2), #ARGV
while at <= last do
  plans[#plans + 1] = at
  local length = ARGV[at + 2]
  at = at + PLAN_HEAD + PROGRESS_ARGS
  for _ = 1, length do
    runs[#runs + 1] = at
    at = end_of(at)
  end
  if ARGV[plans[#plans] + 3] == '1' then
    entries[#plans] = at
    at = at + ${ENTRY_ARGS}
  end
end
prefetch(runs)

-- Whether one of these runs needs a live key that another run holds, which may also be one of these runs.
local function is_held(at, length)
  local plan_keys = {}
  for _ = 1, length do
    local live_key = live_keys[at]
    if live_key and not is_stored(ARGV[at + 1]) then
      if plan_keys[live_key] or holder_of(live_key) then
        return true
      end
      plan_keys[live_key] = true
    end
    at = end_of(at)
  end
  return false
end

local function advance(id, key, at, before, counted)
  move(id)
  if ARGV[at] == '' then
    remove_schedule(id)
    return
  end
  write_progress(key, at, whole(version), counted)
  if ARGV[at + 1] == '' then
    take(DUE, id)
  else
    put(DUE, id, ARGV[at + 1])
  end
  has_sooner = has_sooner or is_sooner(ARGV[at + 1], before)
end

-- An id that occurs twice in a plan counts once. Returns the answer, and the schedule's fields about its runs.
local function add_new(at, length, count)
  local created, runs, last = {}, 0, nil
  for _ = 1, length do
    local id = ARGV[at + 1]
    if not is_stored(id) then
      add_run(at)
      created[#created + 1] = id
      if kinds[ARGV[at]].state == 'pending' then
        runs, last, has_runs = runs + 1, id, true
      end
    end
    at = end_of(at)
  end
  return #created == length and 1 or created, last and fields_of_count(count + runs, last) or {}
end

local function fire(at, entry_at)
  local id, length, progress = ARGV[at], tonumber(ARGV[at + 2]), at + PLAN_HEAD
  local key, first = schedule_key(id), progress + PROGRESS_ARGS
  version = version + 1
  local stored = fields_in(key, 'version', 'next_run', 'run_count')
  if version_of(key, stored[1]) ~= ARGV[at + 1] then
    return 0
  end
  if is_held(first, length) then
    return -1
  end
  local answer, counted = add_new(first, length, number_or(stored[3], 0))
  advance(id, key, progress, stored[2], counted)
  if entry_at then
    add_entry(entry_at, now_ms())
    has_entries = true
  end
  return answer
end

local answers = {}
for index, place in ipairs(plans) do
  answers[index] = fire(place, entries[index])
end
write_places()
local has_schedules = has_sooner or has_entries
if has_runs or has_schedules then
  call('PUBLISH', prefix .. ':hints', (has_schedules and 'schedules ' or '') .. (has_runs and 'runs' or ''))
end
return answers
`,
)

export function firePlans(
  connection: Connection,
  plans: readonly FirePlan[],
): Promise<readonly FireAnswer[]> {
  return answersOf(slicesOfPlans(plans), (slice) =>
    sendIsolated(slice, (some) => fireSlice(connection, some), unstorable),
  )
}

async function fireSlice(connection: Connection, plans: readonly FirePlan[]): Promise<readonly FireAnswer[]> {
  const newRuns = new NewRunArgs()
  const args: (string | number)[] = []
  for (const plan of plans) pushPlan(args, newRuns, plan)
  const all = [plans.length, ...newRuns.kinds, ...args]
  const replies = await connection.once<readonly (number | readonly string[])[]>(answeringOnce(FIRE), all)
  return plans.map((plan, index) => answerOf(plan, replies[index]!))
}

/** A plan is never divided, because it is atomic however many runs it has. */
function slicesOfPlans(plans: readonly FirePlan[]): readonly (readonly FirePlan[])[] {
  const slices: FirePlan[][] = []
  let room = 0
  for (const plan of plans) {
    if (room <= 0) {
      slices.push([])
      room = SLICE
    }
    slices.at(-1)!.push(plan)
    room -= Math.max(1, plan.runs.length)
  }
  return slices
}

function pushPlan(args: (string | number)[], newRuns: NewRunArgs, plan: FirePlan): void {
  args.push(plan.scheduleId, plan.ifVersion, plan.runs.length, plan.entry === undefined ? 0 : 1)
  pushProgress(args, plan.progress)
  for (const run of plan.runs) newRuns.push(args, run)
  if (plan.entry !== undefined) args.push(...entryArgs(plan.entry))
}

function answerOf({ runs }: FirePlan, reply: number | readonly string[]): FireAnswer {
  if (reply === 0) return { outcome: "stale" }
  if (reply === -1) return { outcome: "held" }
  return { outcome: "done", created: reply === 1 ? runs.map((run) => run.id) : (reply as readonly string[]) }
}
