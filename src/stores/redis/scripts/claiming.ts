import { endUnreadable } from "../../../core/records/damaged-records.ts"
import type { Run, RunChange } from "../../../core/run/run.ts"
import type { Instant } from "../../../core/time/instant.ts"
import type { Claimed, ClaimRequest } from "../../../store/store.ts"
import { unreadableBecause } from "../../kit/isolation.ts"
import type { Connection } from "../connection.ts"
import { CLAIMING } from "../lua/claiming.ts"
import { BEFORE_WRITING } from "../lua/unparking.ts"
import { type ClaimedRow, claimedRunOf } from "../run-claimed.ts"
import { runningOnce, SLICE, scriptOf } from "../script.ts"

/** The most runs that one script examines. Runs that must wait for their key are parked on the way, once. */
const EXAMINED_MAX = 1_000

// Returns now, the next instant, whether there are more runs to examine, the task and priority of each queue, the ids of the
// runs, how many runs are of which queue, and the runs.
const CLAIM = scriptOf(
  [CLAIMING, BEFORE_WRITING],
  `
local examined = 0

-- When the first run of the queue that was not examined yet is due. Queues are written at the end, so ranks do not change.
local function first_at(source)
  if source.at > #source.runs and not source.is_over then
    local wanted = math.min(math.max(limit - #claimed_ids, 10), ${SLICE})
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

local function examine(source)
  local id, due_at = source.runs[source.at], source.runs[source.at + 1]
  source.at = source.at + 2
  examined = examined + 1
  local run = read_for_claim(id)
  -- A finished or missing run was added by another program, or its task or priority was changed, so its end missed this queue.
  if not is_unfinished[run[STATE]] then
    remove(source, id)
  elseif not is_sound(run) then
    fail_unsound(id)
    remove(source, id)
  elseif take_key(run) then
    claim_run(id, run, source, due_at)
    add_to_reply(id, run, source)
  elseif run[STATE] == 'pending' then
    park(id, run, source, due_at)
    remove(source, id)
  end
end

local is_stopped = false
for _, priority in ipairs(priorities) do
  local source = longest_due(due[priority])
  while source and #claimed_ids < limit and not is_stopped do
    examine(source)
    source = longest_due(due[priority])
    is_stopped = examined == ${EXAMINED_MAX}
  end
end
write_places()
-- Another script is useful only if this one removed runs from queues. This ends the caller's loop.
return { now, next_at, is_stopped and has_removed and 1 or 0, sources, claimed_ids, source_counts, rows }
`,
)

type ClaimReply = readonly [
  now: Instant,
  nextAt: Instant | null,
  hasMore: number,
  sources: readonly (readonly [task: string, priority: string])[],
  ids: readonly string[],
  sourceCounts: readonly number[],
  rows: readonly ClaimedRow[],
]

/**
 * Claims as many runs as one script can. If the caller asked for more, `nextClaimableAt` is now: it starts these runs while the
 * server finds the next. `unreadable` are the changes that fail the runs that cannot be read.
 */
export async function claimRuns(
  connection: Connection,
  request: ClaimRequest,
): Promise<Claimed & { unreadable: readonly RunChange[] }> {
  const { workerId, limit } = request
  const wanted = Math.min(limit, SLICE)
  const leases = new Map(request.tasks.map(({ name, leaseMs }) => [name, leaseMs]))
  for (;;) {
    const args = [workerId, wanted, ...[...leases].flat()]
    const [now, nextAt, hasMore, sources, ids, sourceCounts, rows] = await connection.once<ClaimReply>(
      runningOnce(CLAIM),
      args,
    )
    // The script only parked or removed runs, and there are more behind them.
    if (rows.length === 0 && hasMore === 1) continue
    const isMore = rows.length < limit && (hasMore === 1 || rows.length === wanted)
    const runs: Run[] = []
    const unreadable: RunChange[] = []
    let place = 0
    for (let at = 0; at < sourceCounts.length; at += 2) {
      const [task, priority] = sources[sourceCounts[at]! - 1]!
      const held = { task, priority: Number(priority), leasedUntil: now + leases.get(task)!, workerId, now }
      for (const end = place + sourceCounts[at + 1]!; place < end; place++) {
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
