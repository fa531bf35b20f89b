import type { Instant } from "../../../core/instant.ts"
import type { Run, RunChange } from "../../../core/run.ts"
import { DATE_MAX } from "../../../core/sound.ts"
import { endUnreadable } from "../../../core/unreadable.ts"
import type { Claimed, ClaimRequest } from "../../../store/store.ts"
import { unreadableBecause } from "../../kit/isolation.ts"
import type { Connection } from "../connection.ts"
import { RUNS } from "../lua/runs.ts"
import { TAKING } from "../lua/taking.ts"
import { BEFORE_WRITING } from "../lua/unparking.ts"
import { STORIES } from "../lua/whole-runs.ts"
import { type ClaimedRow, claimedRunOf } from "../run-claimed.ts"
import { runningOnce, SLICE, scriptOf } from "../script.ts"

/** How many runs one script looks at: those that wait for their key are put aside on the way, once. */
const EXAMINED_MAX = 1_000

// Its queues with something due, by priority, and when the next run after now is due: read before anything is given, since
// what is given is due again when its lease ends.
const QUEUES = `
local now = now_ms()
local now_text, now_read = whole(now), rfc_3339(now)
local worker, limit = ARGV[1], tonumber(ARGV[2])
local next_at = false
local due, priorities, sources = {}, {}, {}

-- Beyond any date is never: as a whole number, infinity would be long ago, and the worker would come again and again.
local function note_next(head)
  local at = head[2] and tonumber(head[2])
  if at and at <= ${DATE_MAX} and (not next_at or at < next_at) then
    next_at = at
  end
end

local function look_at(task, leased_until, priority)
  local queue = prefix .. ':queue:' .. priority .. ':' .. task
  local head = redis.pcall('ZRANGE', queue, 0, 0, 'WITHSCORES')
  if head.err then
    -- The key holds something else: the runs of this task and priority can't be given, and all others are.
    return
  elseif #head == 0 then
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
    -- What is no number was written past our door; priorities are compared.
    if tonumber(priority) then
      look_at(ARGV[at], whole(now + ARGV[at + 1]), priority)
    end
  end
end
table.sort(priorities, function (a, b) return tonumber(a) > tonumber(b) end)
`

// Answers now, the next instant, whether there is more to look at, each queue's task and priority, the runs' ids, how many are
// of which queue, and the runs.
const CLAIM = scriptOf(
  RUNS,
  STORIES,
  QUEUES,
  TAKING,
  BEFORE_WRITING,
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
  return best
end

local has_removed = false

local function remove(source, id)
  take(source.queue, id)
  has_removed = true
end

local function offer(source)
  local id, due_at = source.runs[source.at], source.runs[source.at + 1]
  source.at = source.at + 2
  examined = examined + 1
  local run = read_to_give(id)
  -- One that is gone or finished was put here past our door, or its end didn't find it: its task or priority was changed.
  if not is_unfinished[run[STATE]] then
    remove(source, id)
  elseif not is_sound(run) then
    fail_unsound(id)
    remove(source, id)
  elseif take_key(run) then
    give(id, run, source, due_at)
    answer_with(id, run, source)
  elseif run[STATE] == 'pending' then
    park(id, run, source, due_at)
    remove(source, id)
  end
end

local is_cut = false
for _, priority in ipairs(priorities) do
  local source = longest_due(due[priority])
  while source and #given < limit and not is_cut do
    offer(source)
    source = longest_due(due[priority])
    is_cut = examined == ${EXAMINED_MAX}
  end
end
write_places()
-- Worth another look only if some are out of the way for good: so it comes to an end.
return { now, next_at, is_cut and has_removed and 1 or 0, sources, given, shares, rows }
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

/** One script's worth, and the ends of those that can't be given: whoever asked for more comes again at once, and begins these while the server looks for those. */
export async function claimRuns(
  connection: Connection,
  request: ClaimRequest,
): Promise<Claimed & { unreadable: readonly RunChange[] }> {
  const { workerId, limit } = request
  const wanted = Math.min(limit, SLICE)
  const leases = new Map(request.tasks.map(({ name, leaseMs }) => [name, leaseMs]))
  for (;;) {
    const args = [workerId, wanted, ...[...leases].flat()]
    const [now, nextAt, hasMore, sources, ids, shares, rows] = await connection.once<ClaimReply>(
      runningOnce(CLAIM),
      args,
    )
    // Nothing but runs that wait for their key, or are none to give: they are out of the way, and there is something behind them.
    if (rows.length === 0 && hasMore === 1) continue
    const isMore = rows.length < limit && (hasMore === 1 || rows.length === wanted)
    const runs: Run[] = []
    const unreadable: RunChange[] = []
    let place = 0
    for (let at = 0; at < shares.length; at += 2) {
      const [task, priority] = sources[shares[at]! - 1]!
      const held = { task, priority: Number(priority), leasedUntil: now + leases.get(task)!, workerId, now }
      for (const end = place + shares[at + 1]!; place < end; place++) {
        try {
          runs.push(claimedRunOf(ids[place]!, rows[place]!, held))
        } catch (error) {
          const attempt = Number(rows[place]![8] ?? 0) + 1
          unreadable.push(endUnreadable({ id: ids[place]!, attempt }, unreadableBecause(error)))
        }
      }
    }
    return { now, runs, unreadable, nextClaimableAt: isMore ? now : nextAt }
  }
}
