import type { Instant } from "../../../core/instant.ts"
import type { Run } from "../../../core/run.ts"
import type { Claimed, ClaimRequest } from "../../../store/store.ts"
import type { Connection, Reply } from "../connection.ts"
import { RUNS, STORIES, WHOLE_RUNS } from "../lua/runs.ts"
import { fieldsOf, runOf } from "../run-rows.ts"
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
local due, priorities = {}, {}

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
    table.insert(due[priority], { queue = queue, leased_until = leased_until, from = 0, at = 1, runs = {}, leased = {}, gone = {} })
  end
end

for at = 3, #ARGV, 2 do
  for _, priority in ipairs(call('ZRANGE', prefix .. ':priorities:' .. ARGV[at], 0, -1)) do
    look_at(ARGV[at], whole(now + ARGV[at + 1]), priority)
  end
end
table.sort(priorities, function (a, b) return tonumber(a) > tonumber(b) end)
`

const TAKING = `
-- False where the key is full. A silent worker's run is not in its own way.
local function take_key(run)
  local key, limit, was_running = run.concurrency_key, run.concurrency_limit, run.state == 'running'
  if key and limit then
    local others = (call('HGET', RUNNING, key) or 0) - (was_running and 1 or 0)
    if others >= tonumber(limit) then
      return false
    end
  end
  if key and not was_running then
    call('HINCRBY', RUNNING, key, 1)
  end
  return true
end

local has_parked = false

-- Put aside until a run with its key ends, so that no claim looks at it again.
local function park(id, run, due_at)
  put(waiting_of(run), id, due_at)
  local place = run.concurrency_limit .. ':' .. (run.priority or 0) .. ':' .. run.task
  call('SADD', prefix .. ':parked:' .. run.concurrency_key, place)
  call('SADD', prefix .. ':parked', run.concurrency_key)
  has_parked = true
end

-- The answer is the run as it was, and what of it the claimer can't know; the rest it puts in itself.
local function take(id, run, list, due_at)
  count(run.state, run, -1)
  if run.state == 'running' then
    tell_attempt(id, run, 'lost', due_at, false)
    add_field(list, 'lost', (run.lost or 0) + 1)
    call('HSET', run_key(id), 'lost', (run.lost or 0) + 1)
  end
  if run.progress then
    call('HDEL', run_key(id), 'progress')
  end
  run.state, run.attempt = 'running', (run.attempt or 0) + 1
  call('HSET', RUNS .. id, 'state', 'running', 'attempt', whole(run.attempt), 'worker_id', worker, 'started_at', now_text)
  count('running', run, 1)
  add_field(list, 'id', id)
  add_field(list, 'attempts', earlier_attempts(id, run))
end
`

// Answers now, the next instant, whether there is more to look at, and the runs.
const CLAIM = scriptOf(
  RUNS,
  STORIES,
  WHOLE_RUNS,
  QUEUES,
  TAKING,
  `
local given, examined = {}, 0

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
  local run, list = read_run(id)
  if not run then
    table.insert(source.gone, id)
  elseif take_key(run) then
    take(id, run, list, due_at)
    table.insert(source.leased, source.leased_until)
    table.insert(source.leased, id)
    given[#given + 1] = list
  elseif run.state == 'pending' then
    park(id, run, due_at)
    table.insert(source.gone, id)
  end
end

local function write_queue(source)
  if #source.leased > 0 then
    call('ZADD', source.queue, unpack(source.leased))
  end
  if #source.gone > 0 then
    call('ZREM', source.queue, unpack(source.gone))
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
  for _, each in ipairs(due[priority]) do
    write_queue(each)
  end
end
write_counts()
-- Worth another look only if some were put aside for good: so it comes to an end.
return { now, next_at, is_cut and has_parked and 1 or 0, given }
`,
)

type ClaimReply = readonly [now: number, nextAt: number | null, hasMore: number, runs: readonly Reply[]]

export async function claimRuns(connection: Connection, request: ClaimRequest): Promise<Claimed> {
  const leases = new Map(request.tasks.map(({ name, leaseMs }) => [name, leaseMs]))
  const tasks = [...leases].flat()
  const runs: Run[] = []
  let first: ClaimReply | null = null
  for (;;) {
    const wanted = Math.min(request.limit - runs.length, SLICE)
    const reply = await connection.run<ClaimReply>(CLAIM, [request.workerId, wanted, ...tasks])
    // Of several, only the first has given nothing yet that would be the next to be due.
    first ??= reply
    for (const row of reply[3]) runs.push(takenRun(row, request.workerId, reply[0], leases))
    const isOver = reply[2] === 0 && reply[3].length < wanted
    if (isOver || runs.length >= request.limit) return { now: first[0], runs, nextClaimableAt: first[1] }
  }
}

function takenRun(row: Reply, workerId: string, now: Instant, leases: ReadonlyMap<string, number>): Run {
  const run = runOf(fieldsOf(row))
  // Nobody else has this record yet, and a copy of thirty fields is what would cost most.
  return Object.assign(run, {
    state: "running" as const,
    attempt: run.attempt + 1,
    workerId,
    startedAt: now,
    claimableAt: now + leases.get(run.task)!,
    progress: null,
  })
}
