import type { RunChange, RunState } from "../../../core/run/run.ts"
import type { TransitionAnswer } from "../../../store/store.ts"
import { finite, jsonTextOrNull, sendIsolated, unstorable } from "../../kit/isolation.ts"
import type { Connection } from "../connection.ts"
import { type Args, Kinds } from "../kinds.ts"
import { KINDS } from "../lua/kinds.ts"
import { RUNS } from "../lua/runs.ts"
import { BEFORE_WRITING, UNPARKING } from "../lua/unparking.ts"
import { ATTEMPT_LISTS } from "../lua/whole-runs.ts"
import { answeringOnce, answersOf, luaPiece, scriptOf, slicesOf } from "../script.ts"

// Writes how runs ended: into the hash of the schedule, and into `:successes` for the schedules that depend on it.
const ENDS = luaPiece(
  [RUNS],
  `
local ends = {}

-- Called in the order of the changes.
local function note_end(schedule, state, error)
  local known = ends[schedule] or { failures = 0 }
  ends[schedule] = known
  known.state = state
  if state == 'succeeded' then
    known.has_success, known.failures = true, 0
  elseif state == 'failed' then
    known.failures, known.error = known.failures + 1, error or ''
  end
end

-- A run may outlive its schedule. HSET must not create the schedule again.
local function are_stored(keys)
  return call('EXISTS', unpack(keys)) == #keys
end

local function write_end(key, known, now_iso)
  local fields = { 'last_state', known.state, 'last_ended', now_iso }
  local function add(name, value)
    fields[#fields + 1] = name
    fields[#fields + 1] = value
  end
  if known.has_success then
    add('last_success', now_iso)
    add('failures_in_a_row', known.failures)
  end
  if known.error then
    add('last_error', known.error)
  end
  redis.pcall('HSET', key, unpack(fields))
  if known.failures > 0 and not known.has_success then
    local answer = redis.pcall('HINCRBY', key, 'failures_in_a_row', known.failures)
    if type(answer) == 'table' and answer.err then
      -- The stored value is not a number, so the count begins again.
      redis.pcall('HSET', key, 'failures_in_a_row', known.failures)
    end
  end
end

local function write_ends(now)
  local successes, keys, now_iso = {}, {}, rfc_3339(now)
  for schedule, known in pairs(ends) do
    keys[#keys + 1] = prefix .. ':schedules:' .. schedule
    known.key = keys[#keys]
    if known.has_success then
      successes[#successes + 1] = schedule
      successes[#successes + 1] = now_iso
    end
  end
  if #keys == 0 then
    return
  end
  local are_all_stored = are_stored(keys)
  for _, known in pairs(ends) do
    if are_all_stored or are_stored({ known.key }) then
      write_end(known.key, known, now_iso)
    end
  end
  write_chunks('HSET', prefix .. ':successes', successes)
end
`,
)

const CHANGING = luaPiece(
  [RUNS, ATTEMPT_LISTS, UNPARKING, ENDS, KINDS],
  `
local now = now_ms()
local now_text, now_iso = whole(now), rfc_3339(now)

-- The head of a kind: the expected state and attempt, the new state, how the attempt ended, and whether the time until the runs
-- are due follows their ids.
local function read_change_kind(at)
  local state, outcome = ARGV[at + 2], ARGV[at + 3]
  local fields = { 'state', state }
  if is_unfinished[state] then
    -- An attempt, also attempt 0, tells a claim to read the fields that a new run lacks.
    fields[3], fields[4] = 'attempt', ARGV[at + 1]
  else
    fields[3], fields[4] = 'completed_at', now_iso
    if outcome ~= '' then
      fields[5], fields[6] = 'outcome', outcome
    end
  end
  return {
    if_state = ARGV[at], if_attempt = ARGV[at + 1], state = state, outcome = outcome, is_timed = ARGV[at + 4] == '1', fields = fields,
  }
end

-- An attempt that ended with its run moves from the run's own fields to the list when the run continues.
local function add_attempts(id, run, kind, at)
  local outcome, goes_on = kind.outcome, is_unfinished[kind.state]
  if is_unfinished[run.state] and (outcome == '' or not goes_on) then
    return
  end
  local fields = call('HMGET', RUNS .. id, 'worker_id', 'started_at', 'completed_at', 'outcome', 'error', 'due_at')
  local attempt_fields = { attempt = run.attempt, worker_id = fields[1], due_at = fields[6], started_at = fields[2] }
  if fields[4] then
    add_attempt(id, attempt_fields, fields[4], tonumber(ms_of(fields[3]) or now), fields[5])
  end
  if outcome ~= '' and goes_on then
    add_attempt(id, attempt_fields, outcome, now, own_value(kind, at, 'error'))
  end
end

-- Deletes the fields that the change may not write again. A first attempt can only have a message to delete.
local function write_change(id, run, kind, at)
  local key = RUNS .. id
  if run.state ~= 'running' or run.attempt ~= '1' or run.message then
    call('HDEL', key, 'failures', 'lost', 'message', 'details', 'error', 'completed_at', 'outcome')
  end
  call('HSET', key, unpack(fields_of(kind, at)))
end

-- When the run is due, or when it ended. A run that becomes pending without a delay keeps its place in the queue.
local function instant_after(id, state, due_in)
  if due_in then
    return whole(now + due_in)
  end
  return is_unfinished[state] and ms_of(call('HGET', RUNS .. id, 'due_at')) or now_text
end

-- Moves the run in all its indexes.
local function move_run(id, run, state, due_in)
  move(id)
  local was_in_schedule = is_in_schedule(run)
  leave(id, run)
  run.state = state
  enter(id, run, instant_after(id, state, due_in))
  if is_in_schedule(run) and not was_in_schedule then
    list_in_schedule(id, run)
  elseif was_in_schedule and not is_in_schedule(run) then
    unlist_in_schedule(id, run)
  end
end

local function note(run, kind, at)
  local schedule, state = run.schedule_id, kind.state
  if state == 'cancelled' then
    hints.cancelled = true
  elseif state == 'pending' then
    hints.runs = true
  end
  if schedule and not is_unfinished[state] and state ~= 'skipped' then
    note_end(schedule, state, own_value(kind, at, 'error'))
  end
  if run.concurrency_key then
    touched[#touched + 1] = run.concurrency_key
  end
end
`,
)

// Returns for each change 1: done; 0: held; or the state and attempt that the run has instead.
const CHANGE = scriptOf(
  [CHANGING, BEFORE_WRITING],
  `
local function change(at)
  local kind, id = kinds[ARGV[at]], ARGV[at + 1]
  local run = read_run(id)
  if not run then
    return { false, 0 }
  end
  if run.state ~= kind.if_state or run.attempt ~= kind.if_attempt then
    return { run.state, run.attempt }
  end
  local is_reopened = is_unfinished[kind.state] and not is_unfinished[run.state]
  if is_reopened and run.live_key and holder_of(run.live_key) then
    return 0
  end
  add_attempts(id, run, kind, at)
  write_change(id, run, kind, at)
  move_run(id, run, kind.state, time_of(kind, at))
  note(run, kind, at)
  return 1
end

local answers = {}
local at, last = read_kinds(1, 5, read_change_kind), #ARGV
while at <= last do
  answers[#answers + 1] = change(at)
  at = end_of(at)
end
-- Unparking needs the new counts of running runs, and fills queues that write_sets writes. So it comes between them.
write_counts()
unpark()
write_sets()
write_holders()
write_ends(now)
if hints.cancelled or hints.runs then
  local words = (hints.cancelled and 'cancelled ' or '') .. (hints.runs and 'runs' or '')
  call('PUBLISH', prefix .. ':hints', words)
end
return answers
`,
)

type ChangeReply = 0 | 1 | readonly [state: RunState | null, attempt: string | number]

export function changeRuns(
  connection: Connection,
  changes: readonly RunChange[],
): Promise<readonly TransitionAnswer[]> {
  return answersOf(slicesOf(changes), (slice) =>
    sendIsolated(slice, (some) => changeSlice(connection, some), unstorable),
  )
}

async function changeSlice(
  connection: Connection,
  changes: readonly RunChange[],
): Promise<readonly TransitionAnswer[]> {
  const kinds = new Kinds()
  const args: Args = []
  for (const change of changes) pushChange(args, kinds, change)
  const replies = await connection.once<readonly ChangeReply[]>(answeringOnce(CHANGE), [
    ...kinds.args,
    ...args,
  ])
  return replies.map(answerOf)
}

function pushChange(args: Args, kinds: Kinds, change: RunChange): void {
  const { claimableInMs, failures, lost } = change
  const place = args.push(0, change.runId) - 2
  const isTimed = claimableInMs !== null
  if (isTimed) args.push(finite(claimableInMs))
  const names: string[] = []
  const add = (name: string, value: string | null) => {
    if (value === null) return
    names.push(name)
    args.push(value)
  }
  add("message", change.message)
  add("details", jsonTextOrNull(change.details))
  add("error", change.error)
  add("progress", jsonTextOrNull(change.progress))
  add("reason", change.reason)
  add("by", change.by)
  const { ifState, ifAttempt, state, outcome } = change
  const key = `${ifState} ${ifAttempt} ${state} ${outcome} ${isTimed} ${failures} ${lost} ${names}`
  args[place] = kinds.numberOf(key, () => {
    const common: Args = []
    if (failures !== 0) common.push("failures", failures)
    if (lost !== 0) common.push("lost", lost)
    return { head: [ifState, ifAttempt, state, outcome ?? "", isTimed ? 1 : 0], common, names }
  })
}

function answerOf(reply: ChangeReply): TransitionAnswer {
  if (reply === 1) return { outcome: "done" }
  if (reply === 0) return { outcome: "held" }
  return { outcome: "stale", state: reply[0], attempt: Number(reply[1]) }
}
