import type { Instant } from "../../../core/instant.ts"
import type { Run } from "../../../core/run.ts"
import type { Claimed, ClaimRequest } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { RUNS } from "../lua/runs.ts"
import { STORIES } from "../lua/whole-runs.ts"
import { type ClaimedRow, claimedRunOf, FIRST_FIELDS, FURTHER_FIELDS } from "../run-claimed.ts"
import { SLICE, scriptOf } from "../script.ts"

/** How many runs one script looks at: those that wait for their key are put aside on the way, once. */
const EXAMINED_MAX = 1_000

// Its queues with something due, by priority, and when the next run after now is due: read before anything is given, since
// what is given is due again when its lease ends.
const QUEUES = `
local now = now_ms()
local now_text = whole(now)
local worker, limit = ARGV[1], tonumber(ARGV[2])
local next_at = false
local due, priorities, sources = {}, {}, {}

local function note_next(head)
  local at = head[2] and tonumber(head[2])
  if at and (not next_at or at < next_at) then
    next_at = at
  end
end

local function look_at(task, leased_until, priority)
  local queue = prefix .. ':queue:' .. priority .. ':' .. task
  local head = call('ZRANGE', queue, 0, 0, 'WITHSCORES')
  if #head == 0 then
    call('ZREM', prefix .. ':priorities:' .. task, priority)
  elseif tonumber(head[2]) > now then
    note_next(head)
  else
    note_next(call('ZRANGEBYSCORE', queue, '(' .. now_text, '+inf', 'WITHSCORES', 'LIMIT', 0, 1))
    if not due[priority] then
      due[priority] = {}
      priorities[#priorities + 1] = priority
    end
    sources[#sources + 1] = { task, priority }
    table.insert(due[priority], {
      number = #sources, task = task, priority = priority, queue = queue, leased_until = leased_until, from = 0, at = 1, runs = {},
    })
  end
end

for at = 3, #ARGV, 2 do
  for _, priority in ipairs(call('ZRANGE', prefix .. ':priorities:' .. ARGV[at], 0, -1)) do
    look_at(ARGV[at], whole(now + ARGV[at + 1]), priority)
  end
end
table.sort(priorities, function (a, b) return tonumber(a) > tonumber(b) end)
`

const names = (fields: readonly string[]) => fields.map((field) => `'${field}'`).join(", ")
const places = (fields: readonly string[]) =>
  fields.map((field, index) => `${field} = ${index + 1}`).join(", ")

// A run is the list of what is read first of it; in place of its state comes at last what there is further.
const TAKING = `
local FIRST, THEN = { ${places(FIRST_FIELDS)} }, { ${places(FURTHER_FIELDS)} }
local STATE, ATTEMPT, SCHEDULE, LIMIT = FIRST.state, FIRST.attempt, FIRST.schedule_id, FIRST.concurrency_limit
local FURTHER = STATE + 1

local function read_to_give(id)
  local run = call('HMGET', RUNS .. id, ${names(FIRST_FIELDS)})
  run[FURTHER] = run[ATTEMPT] and call('HMGET', RUNS .. id, ${names(FURTHER_FIELDS)})
  return run
end

local function is_single(run)
  return run[SCHEDULE] and (not run[FURTHER] or run[FURTHER][THEN.single])
end

local function key_of(run)
  if is_single(run) then
    return OWN_KEY .. run[SCHEDULE]
  end
  return run[FURTHER] and run[FURTHER][THEN.concurrency_key]
end

-- False where the key is full. A silent worker's run holds it already, and is not in its own way.
local function take_key(run)
  local key, limit, was_running = key_of(run), run[LIMIT], run[STATE] == 'running'
  if not key or (was_running and not limit) then
    return true
  end
  local running = call('HINCRBY', RUNNING, key, was_running and 0 or 1)
  if limit and running > tonumber(limit) then
    if not was_running then
      call('HINCRBY', RUNNING, key, -1)
    end
    return false
  end
  return true
end

local has_parked = false

-- Put aside until a run with its key ends, so that no claim looks at it again.
local function park(id, run, source, due_at)
  local limit, key = run[LIMIT], key_of(run)
  call('ZADD', waiting_key(limit, source.priority, source.task, key), due_at, id)
  call('SADD', prefix .. ':parked:' .. key, limit .. ':' .. source.priority .. ':' .. source.task)
  call('SADD', prefix .. ':parked', key)
  has_parked = true
end

local function count_as_running(run, task)
  local state, schedule = run[STATE], run[SCHEDULE]
  count(state, task, -1)
  count('running', task, 1)
  if schedule and not is_single(run) then
    count_in_schedule(state, schedule, -1)
    count_in_schedule('running', schedule, 1)
  end
end

-- A run that isn't taken for the first time, or was changed before: what it was, and the story of its attempts.
local function go_on(id, run, due_at)
  local further = run[FURTHER]
  local worker_id, started_at = further[THEN.worker_id], further[THEN.started_at]
  if run[STATE] == 'running' then
    local lost = whole((further[THEN.lost] or 0) + 1)
    tell_attempt(id, { attempt = run[ATTEMPT], worker_id = worker_id, started_at = started_at }, 'lost', due_at, false)
    call('HSET', RUNS .. id, 'lost', lost)
    further[THEN.lost] = lost
  end
  call('HDEL', RUNS .. id, 'progress')
  -- In place of the worker that had it, of which the claimer need not know.
  further[THEN.worker_id], further[THEN.started_at] = call('LRANGE', prefix .. ':attempts:' .. id, 0, -1), nil
  return whole(run[ATTEMPT] + 1)
end

local given, rows, shares = {}, {}, {}

-- How many in a row are of one queue: most are of the same.
local function note_source(number)
  local length = #shares
  if shares[length - 1] == number then
    shares[length] = shares[length] + 1
  else
    shares[length + 1], shares[length + 2] = number, 1
  end
end

-- The answer is the run as it was, and what of it the claimer can't know; the rest it puts in itself. What a run lacks at the
-- end of its list is left out.
local function answer_with(id, run, source)
  run[STATE], run[FURTHER] = run[FURTHER], nil
  local last = STATE
  while not run[last] do
    run[last] = nil
    last = last - 1
  end
  local length = #given + 1
  given[length], rows[length] = id, run
  note_source(source.number)
end

local function give(id, run, source, due_at)
  count_as_running(run, source.task)
  local attempt = run[ATTEMPT] and go_on(id, run, due_at) or '1'
  call('HSET', RUNS .. id, 'state', 'running', 'attempt', attempt, 'worker_id', worker, 'started_at', now_text)
  put(source.queue, id, source.leased_until)
end
`

// Answers now, the next instant, whether there is more to look at, each queue's task and priority, the runs' ids, how many are
// of which queue, and the runs.
const CLAIM = scriptOf(
  RUNS,
  STORIES,
  QUEUES,
  TAKING,
  `
local examined = 0

-- When the first of a queue's runs is due that was not looked at yet; queues are written at the end, so places stay.
local function first_at(source)
  if source.at > #source.runs and not source.is_over then
    local wanted = math.min(math.max(limit - #given, 10), ${SLICE})
    source.runs = call('ZRANGEBYSCORE', source.queue, '-inf', now_text, 'WITHSCORES', 'LIMIT', source.from, wanted)
    source.from, source.at, source.is_over = source.from + wanted, 1, #source.runs < 2 * wanted
  end
  local at = source.runs[source.at + 1]
  return at and tonumber(at)
end

local function longest_due(sources)
  local best, best_at
  for _, source in ipairs(sources) do
    local at = first_at(source)
    if at and (not best_at or at < best_at) then
      best, best_at = source, at
    end
  end
  return best, best_at
end

local function offer(source, due_at)
  local id = source.runs[source.at]
  source.at = source.at + 2
  examined = examined + 1
  local run = read_to_give(id)
  if not run[STATE] then
    take(source.queue, id)
  elseif take_key(run) then
    give(id, run, source, due_at)
    answer_with(id, run, source)
  elseif run[STATE] == 'pending' then
    park(id, run, source, due_at)
    take(source.queue, id)
  end
end

local is_cut = false
for _, priority in ipairs(priorities) do
  local source, due_at = longest_due(due[priority])
  while source and #given < limit and not is_cut do
    offer(source, due_at)
    source, due_at = longest_due(due[priority])
    is_cut = examined == ${EXAMINED_MAX}
  end
end
write_places()
-- Worth another look only if some were put aside for good: so it comes to an end.
return { now, next_at, is_cut and has_parked and 1 or 0, sources, given, shares, rows }
`,
)

type ClaimReply = readonly [
  now: Instant,
  nextAt: Instant | null,
  hasMore: number,
  sources: readonly (readonly [task: string, priority: string])[],
  ids: readonly string[],
  shares: readonly number[],
  rows: readonly ClaimedRow[],
]

/** One script's worth: whoever asked for more comes again at once, and begins these while the server looks for those. */
export async function claimRuns(connection: Connection, request: ClaimRequest): Promise<Claimed> {
  const { workerId, limit } = request
  const wanted = Math.min(limit, SLICE)
  const leases = new Map(request.tasks.map(({ name, leaseMs }) => [name, leaseMs]))
  for (;;) {
    const args = [workerId, wanted, ...[...leases].flat()]
    const [now, nextAt, hasMore, sources, ids, shares, rows] = await connection.run<ClaimReply>(CLAIM, args)
    // Nothing but runs that wait for their key: they are put aside now, and there is something behind them.
    if (rows.length === 0 && hasMore === 1) continue
    const isMore = rows.length < limit && (hasMore === 1 || rows.length === wanted)
    const runs: Run[] = []
    for (let at = 0; at < shares.length; at += 2) {
      const [task, priority] = sources[shares[at]! - 1]!
      const held = { task, priority: Number(priority), leasedUntil: now + leases.get(task)!, workerId, now }
      for (let left = shares[at + 1]!; left > 0; left--) {
        runs.push(claimedRunOf(ids[runs.length]!, rows[runs.length]!, held))
      }
    }
    return { now, runs, nextClaimableAt: isMore ? now : nextAt }
  }
}
