import type { RunChange, RunState } from "../../../core/run.ts"
import type { TransitionAnswer } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { INSTANTS } from "../lua/instants.ts"
import { RUNS } from "../lua/runs.ts"
import { STORIES } from "../lua/whole-runs.ts"
import { answersOf, numberOrNone, scriptOf, slicesOf } from "../script.ts"

// When a run with a key ends or waits again, as many that wait for that key come back to their queues as it has room for.
const UNPARKING = `
local news, touched = {}, {}
local ROOM_MAX = 500

local function unpark_of(key, place)
  local limit, priority, task = string.match(place, '^(%-?%d+):(%-?%d+):(.*)$')
  local room = math.min(limit - (call('HGET', RUNNING, key) or 0), ROOM_MAX)
  if room <= 0 then
    return
  end
  local waiting = waiting_key(limit, priority, task, key)
  local runs = call('ZRANGE', waiting, 0, room - 1, 'WITHSCORES')
  for index = 1, #runs, 2 do
    call('ZREM', waiting, runs[index])
    put_in_queue(runs[index], task, priority, runs[index + 1])
    news.runs = true
  end
  if #runs < 2 * room then
    call('SREM', prefix .. ':parked:' .. key, place)
    if call('EXISTS', prefix .. ':parked:' .. key) == 0 then
      call('SREM', prefix .. ':parked', key)
    end
  end
end

-- Nobody waits for most keys, so all are asked about at once.
local function unpark()
  if #touched == 0 then
    return
  end
  for index, is_parked in ipairs(call('SMISMEMBER', prefix .. ':parked', unpack(touched))) do
    if is_parked == 1 then
      for _, place in ipairs(call('SMEMBERS', prefix .. ':parked:' .. touched[index])) do
        unpark_of(touched[index], place)
      end
    end
  end
end
`

// What the hash of a schedule tells of its runs, and what those that depend on it ask.
const ENDS = `
local succeeded, failed = {}, {}

-- A run may outlive its schedule, which must not be made again.
local function are_stored(keys)
  return call('EXISTS', unpack(keys)) == #keys
end

local function write_ends(now)
  local successes, keys, writes = {}, {}, {}
  local now_text, now_read = whole(now), rfc_3339(now)
  for schedule in pairs(succeeded) do
    successes[#successes + 1] = schedule
    successes[#successes + 1] = now_text
    keys[#keys + 1] = prefix .. ':schedules:' .. schedule
    writes[#writes + 1] = { keys[#keys], 'last_success', now_read }
  end
  for schedule, error in pairs(failed) do
    keys[#keys + 1] = prefix .. ':schedules:' .. schedule
    writes[#writes + 1] = { keys[#keys], 'last_error', error }
  end
  if #keys == 0 then
    return
  end
  local are_all_stored = are_stored(keys)
  for _, write in ipairs(writes) do
    if are_all_stored or are_stored({ write[1] }) then
      call('HSET', unpack(write))
    end
  end
  write_chunks('HSET', prefix .. ':successes', successes)
end
`

const CHANGING = `
local now = now_ms()
local now_text = whole(now)

-- Arguments of a change: the run, the state and attempt it is decided on, the new state, in how long the run is due, how the
-- attempt ended, how many arguments its fields are, and each field's name and value.
local HEAD = 7

local function end_of_change(at)
  return at + HEAD + ARGV[at + 6]
end

local function error_of(at)
  for place = at + HEAD, end_of_change(at) - 1, 2 do
    if ARGV[place] == 'error' then
      return ARGV[place + 1]
    end
  end
  return false
end

-- An attempt that ends with its run is told by the run's own fields; by a list once the run goes on.
local function tell_attempts(id, run, at)
  local outcome, goes_on = ARGV[at + 5], is_unfinished(ARGV[at + 3])
  if is_unfinished(run.state) and (outcome == '' or not goes_on) then
    return
  end
  local fields = call('HMGET', RUNS .. id, 'worker_id', 'started_at', 'completed_at', 'outcome', 'error')
  local told = { attempt = run.attempt, worker_id = fields[1], started_at = fields[2] }
  if fields[4] then
    tell_attempt(id, told, fields[4], tonumber(fields[3]), fields[5])
  end
  if outcome ~= '' and goes_on then
    tell_attempt(id, told, outcome, now, error_of(at))
  end
end

-- What a change replaces goes first, since nothing may come instead. That costs less than to ask what is there.
local function write_change(id, at)
  local key, state, outcome = RUNS .. id, ARGV[at + 3], ARGV[at + 5]
  local from, last = at + HEAD, end_of_change(at) - 1
  call('HDEL', key, 'failures', 'lost', 'message', 'details', 'error', 'completed_at', 'outcome')
  if is_unfinished(state) then
    -- With an attempt, also of nought, a claim knows that there is more to read than what a new run has.
    call('HSET', key, 'state', state, 'attempt', ARGV[at + 2], unpack(ARGV, from, last))
  elseif outcome == '' then
    call('HSET', key, 'state', state, 'completed_at', now_text, unpack(ARGV, from, last))
  else
    call('HSET', key, 'state', state, 'completed_at', now_text, 'outcome', outcome, unpack(ARGV, from, last))
  end
end

-- Everything it is found by.
local function move_run(id, run, state, due_in)
  move(id)
  local was_in_schedule = is_in_schedule(run)
  leave(id, run)
  run.state = state
  enter(id, run, due_in == '' and now_text or whole(now + due_in))
  if is_in_schedule(run) and not was_in_schedule then
    list_in_schedule(id, run)
  elseif was_in_schedule and not is_in_schedule(run) then
    unlist_in_schedule(id, run)
  end
end

local function note(run, state, at)
  local schedule = run.schedule_id
  if state == 'cancelled' then
    news.cancelled = true
  elseif state == 'pending' then
    news.runs = true
  elseif state == 'succeeded' and schedule then
    succeeded[schedule] = true
  elseif state == 'failed' and schedule then
    failed[schedule] = error_of(at) or ''
  end
  if run.concurrency_key then
    touched[#touched + 1] = run.concurrency_key
  end
end
`

// Answers each change by 1: done; 0: held; or by the state and attempt where the run is instead.
const CHANGE = scriptOf(
  RUNS,
  STORIES,
  INSTANTS,
  UNPARKING,
  ENDS,
  CHANGING,
  `
local function change(at)
  local id, state = ARGV[at], ARGV[at + 3]
  local run = read_run(id)
  if not run then
    return { false, 0 }
  end
  if run.state ~= ARGV[at + 1] or run.attempt ~= ARGV[at + 2] then
    return { run.state, run.attempt }
  end
  local is_back = is_unfinished(state) and not is_unfinished(run.state)
  if is_back and run.live_key and holder_of(run.live_key) then
    return 0
  end
  tell_attempts(id, run, at)
  write_change(id, at)
  move_run(id, run, state, ARGV[at + 4])
  note(run, state, at)
  return 1
end

local answers = {}
local at, last = 1, #ARGV
while at <= last do
  answers[#answers + 1] = change(at)
  at = end_of_change(at)
end
-- Who may go on depends on how many are running now, and comes into queues that are written after it.
write_counts()
unpark()
write_sets()
write_holders()
write_ends(now)
if news.cancelled or news.runs then
  local words = (news.cancelled and 'cancelled ' or '') .. (news.runs and 'runs' or '')
  call('PUBLISH', prefix .. ':news', words)
end
return answers
`,
)

type ChangeReply = 0 | 1 | readonly [state: RunState | null, attempt: string | number]

export function changeRuns(
  connection: Connection,
  changes: readonly RunChange[],
): Promise<readonly TransitionAnswer[]> {
  return answersOf(slicesOf(changes), async (slice) => {
    const args: (string | number)[] = []
    for (const change of slice) pushChange(args, change)
    return (await connection.run<readonly ChangeReply[]>(CHANGE, args)).map(answerOf)
  })
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
  args[place] = args.length - place - 1
}

function answerOf(reply: ChangeReply): TransitionAnswer {
  if (reply === 1) return { outcome: "done" }
  if (reply === 0) return { outcome: "held" }
  return { outcome: "stale", state: reply[0], attempt: Number(reply[1]) }
}
