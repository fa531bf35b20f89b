import type { FirePlan } from "../../../core/plan.ts"
import type { FireAnswer } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { PROGRESS } from "../lua/progress.ts"
import { NEW_RUNS, RUNS } from "../lua/runs.ts"
import { SCHEDULES } from "../lua/schedules.ts"
import { pushNewRun } from "../run-rows.ts"
import { PROGRESS_ARGS, progressArgs } from "../schedule-rows.ts"
import { SLICE, scriptOf } from "../script.ts"

// Answers each plan by 1: all its runs are new; 0: stale; -1: held; or by the list of those that are new.
const FIRE = scriptOf(
  RUNS,
  NEW_RUNS,
  SCHEDULES,
  PROGRESS,
  `
local now = now_ms()
local now_text = whole(now)
local version = call('INCRBY', prefix .. ':versions', ARGV[1]) - ARGV[1]
local has_runs, has_sooner = false, false
local DUE = prefix .. ':due'

-- The plan's runs that aren't stored yet, each with its place; nothing if one of them would need a live key that is held.
local function new_runs(at, length)
  local runs, lives = {}, {}
  for _ = 1, length do
    if call('EXISTS', run_key(ARGV[at])) == 0 then
      local run = new_run(at, now_text)
      local live = run.state == 'pending' and run.live_key
      if live and (lives[live] or holder_of(run)) then
        return nil
      end
      if live then
        lives[live] = true
      end
      runs[#runs + 1] = { at, run }
    end
    at = end_of_new(at)
  end
  return runs
end

local function advance(id, at, before)
  if ARGV[at] == '' then
    remove_schedule(id)
    return
  end
  write_progress(id, at, version)
  put(DUE, id, ARGV[at + 1] ~= '' and ARGV[at + 1])
  has_sooner = has_sooner or is_sooner(ARGV[at + 2], before)
end

local function fire(id, if_version, at, length)
  version = version + 1
  local stored = call('HMGET', schedule_key(id), 'version', 'next_run')
  if stored[1] ~= if_version then
    return 0
  end
  local runs = new_runs(at + PROGRESS_ARGS, length)
  if not runs then
    return -1
  end
  advance(id, at, stored[2])
  local created = {}
  for _, new in ipairs(runs) do
    -- Also within a plan an id counts once.
    if #runs == 1 or call('EXISTS', run_key(ARGV[new[1]])) == 0 then
      add_run(new[1], new[2], now, now_text)
      has_runs = true
      created[#created + 1] = ARGV[new[1]]
    end
  end
  return #created == length and 1 or created
end

local answers = {}
local at = 2
while at <= #ARGV do
  local length = tonumber(ARGV[at + 2])
  answers[#answers + 1] = fire(ARGV[at], ARGV[at + 1], at + 3, length)
  at = at + 3 + PROGRESS_ARGS
  for _ = 1, length do
    at = end_of_new(at)
  end
end
write_counts()
if has_runs or has_sooner then
  call('PUBLISH', prefix .. ':news', (has_sooner and 'schedules ' or '') .. (has_runs and 'runs' or ''))
end
return answers
`,
)

export async function firePlans(
  connection: Connection,
  plans: readonly FirePlan[],
): Promise<readonly FireAnswer[]> {
  const answers: FireAnswer[] = []
  for (const slice of slicesOfPlans(plans)) {
    const args: (string | number)[] = [slice.length]
    for (const plan of slice) pushPlan(args, plan)
    const replies = await connection.run<readonly (number | readonly string[])[]>(FIRE, args)
    slice.forEach((plan, index) => {
      answers.push(answerOf(plan, replies[index]!))
    })
  }
  return answers
}

/** A plan is an atom, however many runs it has. */
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

const WITHOUT_PROGRESS = Array.from({ length: PROGRESS_ARGS }, () => "")

function pushPlan(args: (string | number)[], { scheduleId, ifVersion, progress, runs }: FirePlan): void {
  args.push(scheduleId, ifVersion, runs.length)
  args.push(...(progress === null ? WITHOUT_PROGRESS : progressArgs(progress)))
  for (const run of runs) pushNewRun(args, run)
}

function answerOf({ runs }: FirePlan, reply: number | readonly string[]): FireAnswer {
  if (reply === 0) return { outcome: "stale" }
  if (reply === -1) return { outcome: "held" }
  return { outcome: "done", created: reply === 1 ? runs.map((run) => run.id) : (reply as readonly string[]) }
}
