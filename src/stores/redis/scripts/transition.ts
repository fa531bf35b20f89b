import type { RunChange, RunState } from "../../../core/run.ts"
import type { TransitionAnswer } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { INSTANTS } from "../lua/instants.ts"
import { RUNS, STORIES } from "../lua/runs.ts"
import { numberOrNone, scriptOf, slicesOf } from "../script.ts"

// When a run with a key ends or waits again, as many that wait for that key come back to their queues as it has room for.
const UNPARKING = `
local news = {}
local ROOM_MAX = 500

local function unpark_of(key, place)
  local limit, priority, task = string.match(place, '^(%-?%d+):(%-?%d+):(.*)$')
  local room = math.min(limit - (call('HGET', RUNNING, key) or 0), ROOM_MAX)
  if room <= 0 then
    return
  end
  local waiting = waiting_key(limit, priority, task, key)
  local queue = queue_of({ task = task, priority = priority })
  local runs = call('ZRANGE', waiting, 0, room - 1, 'WITHSCORES')
  if #runs > 0 then
    list_queue(queue, task, priority)
    news.runs = true
  end
  for index = 1, #runs, 2 do
    put(waiting, runs[index], false)
    put(queue, runs[index], runs[index + 1])
  end
  if #runs < 2 * room then
    call('SREM', prefix .. ':parked:' .. key, place)
    if call('EXISTS', prefix .. ':parked:' .. key) == 0 then
      call('SREM', prefix .. ':parked', key)
    end
  end
end

-- Nobody waits for most keys, so all are asked about at once.
local function unpark(keys)
  if #keys == 0 then
    return
  end
  for index, is_parked in ipairs(call('SMISMEMBER', prefix .. ':parked', unpack(keys))) do
    if is_parked == 1 then
      for _, place in ipairs(call('SMEMBERS', prefix .. ':parked:' .. keys[index])) do
        unpark_of(keys[index], place)
      end
    end
  end
end
`

const CHANGING = `
local now = now_ms()
local now_text = whole(now)
local touched, ended = {}, {}

-- Arguments of a change: the run, the state and attempt it is decided on, the new state, in how long the run is due, how the
-- attempt ended, how many fields, and each field's name and value.
local CHANGE = 7

-- What a run is found by.
local KEPT = {
  'task', 'priority', 'created_at', 'schedule_id', 'scheduled_for', 'live_key', 'concurrency_key', 'concurrency_limit',
}

-- What a change replaces, also by nothing.
local REPLACED = { 'failures', 'lost', 'message', 'details', 'error', 'completed_at', 'outcome' }

local function write_change(id, after, from, last)
  local key, state = run_key(id), after.state
  if after.outcome then
    call('HSET', key, 'state', state, 'completed_at', now_text, 'outcome', after.outcome, unpack(ARGV, from, last))
  elseif after.completed_at then
    call('HSET', key, 'state', state, 'completed_at', now_text, unpack(ARGV, from, last))
  else
    call('HSET', key, 'state', state, unpack(ARGV, from, last))
  end
end

-- The run as it is after the change at that place among the arguments; its hash is brought there.
local function changed(id, run, at)
  local state, outcome = ARGV[at + 3], ARGV[at + 5]
  local from, last = at + CHANGE, at + CHANGE + 2 * ARGV[at + 6] - 1
  local after = { state = state }
  for place = from, last, 2 do
    after[ARGV[place]] = ARGV[place + 1]
  end
  if not is_unfinished(state) then
    after.completed_at = now_text
    after.outcome = outcome ~= '' and outcome
  end
  write_change(id, after, from, last)
  for _, field in ipairs(REPLACED) do
    if run[field] and not after[field] then
      call('HDEL', run_key(id), field)
    end
  end
  for _, field in ipairs(KEPT) do
    after[field] = run[field]
  end
  return after
end

-- An attempt that ends with its run is told by the run's own fields; by a list once the run goes on.
local function tell_attempts(id, run, after, outcome)
  if run.outcome then
    tell_attempt(id, run, run.outcome, tonumber(run.completed_at), run.error)
  end
  if outcome ~= '' and is_unfinished(after.state) then
    tell_attempt(id, run, outcome, now, after.error)
  end
end

local function note(run, after)
  local state, schedule = after.state, run.schedule_id
  if state == 'cancelled' then
    news.cancelled = true
  end
  if state == 'pending' then
    news.runs = true
  end
  if run.concurrency_key then
    touched[#touched + 1] = run.concurrency_key
  end
  if schedule and (state == 'succeeded' or state == 'failed') then
    ended[schedule] = ended[schedule] or {}
    ended[schedule][state] = after.error or ''
  end
end

-- What a person who looks at the schedule's hash wants to know, and what those that depend on it ask.
local function write_ends()
  local successes, now_read = {}, rfc_3339(now)
  for schedule, states in pairs(ended) do
    if states.succeeded then
      successes[#successes + 1] = schedule
      successes[#successes + 1] = now_text
    end
    local key = prefix .. ':schedules:' .. schedule
    if call('EXISTS', key) == 1 then
      if states.succeeded then
        call('HSET', key, 'last_success', now_read)
      end
      if states.failed then
        call('HSET', key, 'last_error', states.failed)
      end
    end
  end
  if #successes > 0 then
    call('HSET', prefix .. ':successes', unpack(successes))
  end
end
`

// Answers each change by 1: done; 0: held; or by the state and attempt where the run is instead.
const CHANGE = scriptOf(
  RUNS,
  STORIES,
  INSTANTS,
  UNPARKING,
  CHANGING,
  `
local function change(at)
  local id, state, due_in = ARGV[at], ARGV[at + 3], ARGV[at + 4]
  local run = read_run(id)
  if not run then
    return { false, 0 }
  end
  if run.state ~= ARGV[at + 1] or (run.attempt or '0') ~= ARGV[at + 2] then
    return { run.state, run.attempt or 0 }
  end
  local live = run.live_key
  if live and is_unfinished(state) and not is_unfinished(run.state) and call('HEXISTS', LIVE, live) == 1 then
    return 0
  end
  local after = changed(id, run, at)
  tell_attempts(id, run, after, ARGV[at + 5])
  leave(id, run)
  enter(id, after, due_in ~= '' and whole(now + due_in))
  note(run, after)
  return 1
end

local answers = {}
local at = 1
while at <= #ARGV do
  answers[#answers + 1] = change(at)
  at = at + CHANGE + 2 * ARGV[at + 6]
end
write_counts()
unpark(touched)
write_ends()
if news.cancelled or news.runs then
  local words = (news.cancelled and 'cancelled ' or '') .. (news.runs and 'runs' or '')
  call('PUBLISH', prefix .. ':news', words)
end
return answers
`,
)

type ChangeReply = 0 | 1 | readonly [state: RunState | null, attempt: string | number]

export async function changeRuns(
  connection: Connection,
  changes: readonly RunChange[],
): Promise<readonly TransitionAnswer[]> {
  const answers: TransitionAnswer[] = []
  for (const slice of slicesOf(changes)) {
    const args: (string | number)[] = []
    for (const change of slice) pushChange(args, change)
    for (const reply of await connection.run<readonly ChangeReply[]>(CHANGE, args)) {
      answers.push(answerOf(reply))
    }
  }
  return answers
}

function pushChange(args: (string | number)[], change: RunChange): void {
  const { runId, ifState, ifAttempt, state, claimableInMs, outcome } = change
  args.push(runId, ifState, ifAttempt, state, numberOrNone(claimableInMs), outcome ?? "")
  const place = args.push("") - 1
  if (change.failures !== 0) args.push("failures", change.failures)
  if (change.lost !== 0) args.push("lost", change.lost)
  if (change.message !== null) args.push("message", change.message)
  if (change.details !== null) args.push("details", JSON.stringify(change.details))
  if (change.error !== null) args.push("error", change.error)
  if (change.reason !== null) args.push("reason", change.reason)
  if (change.by !== null) args.push("by", change.by)
  args[place] = (args.length - place - 1) / 2
}

function answerOf(reply: ChangeReply): TransitionAnswer {
  if (reply === 1) return { outcome: "done" }
  if (reply === 0) return { outcome: "held" }
  return { outcome: "stale", state: reply[0], attempt: Number(reply[1]) }
}
