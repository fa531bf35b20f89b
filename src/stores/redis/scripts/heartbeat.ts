import { storedJson } from "../../../core/values/json.ts"
import type { Heartbeat, HeartbeatAnswer, HeldRun, Worker } from "../../../store/store.ts"
import { readableWorker } from "../../kit/readable-worker.ts"
import type { Connection } from "../connection.ts"
import { instantIn } from "../instants.ts"
import type { LossDetector } from "../loss-detector.ts"
import { INSTANTS } from "../lua/instants.ts"
import { KEYS } from "../lua/keys.ts"
import { SETS } from "../lua/sets.ts"
import { STATISTICS } from "../lua/statistics.ts"
import { numberOf } from "../run-rows.ts"
import { scriptOf, slicesOf } from "../script.ts"
import { batchArgs } from "../statistics-args.ts"

// Arguments: the worker, whether it leaves, its description, how many runs it holds, the version it has seen, the time until
// its next heartbeat, how many runs come with this call, the runs, and a batch of statistics if there is one.
// Returns now; the runs that the worker no longer holds, each with id, attempt and reason; the server's mark and version; and
// the newest batch.
const BEAT = scriptOf(
  [INSTANTS, SETS, STATISTICS],
  `
local HELD = 4
local now = now_ms()
local worker = ARGV[1]
local key = prefix .. ':workers:' .. worker
if ARGV[2] ~= '1' then
  -- A key that is not a hash would fail the call, and the worker would lose all its leases.
  if call('TYPE', key).ok ~= 'hash' then
    call('DEL', key)
  end
  call('HSETNX', key, 'started_at', rfc_3339(now))
  call('HSET', key, 'heartbeat_at', rfc_3339(now), 'about', ARGV[3], 'running', ARGV[4], 'expected_by', rfc_3339(now + ARGV[6]))
  call('ZADD', prefix .. ':worker-ids', 0, worker)
  call('ZADD', prefix .. ':worker-beats', now, worker)
end

local gone, last = {}, 7 + HELD * ARGV[7]
for at = 8, last, HELD do
  local id, attempt = ARGV[at], ARGV[at + 1]
  local run = fields_in(prefix .. ':runs:' .. id, 'state', 'attempt', 'task', 'priority')
  -- Without its task the queue of the run is unknown. Its lease is not extended, and the run is claimed again.
  if run[1] == 'running' and run[2] == attempt and run[3] then
    put(prefix .. ':queue:' .. (run[4] or '0') .. ':' .. run[3], id, whole(now + ARGV[at + 2]))
    call('HSET', prefix .. ':runs:' .. id, 'confirmed_attempt', attempt)
    if ARGV[at + 3] ~= '' then
      call('HSET', prefix .. ':runs:' .. id, 'progress', ARGV[at + 3])
    end
  else
    local is_cancelled = run[1] == 'cancelled' and run[2] == attempt
    gone[#gone + 1] = { id, attempt, is_cancelled and 'cancelled' or 'lost' }
  end
end
write_sets()
local batch = add_batch(key, last + 1, now)
if ARGV[2] == '1' then
  call('DEL', key)
  call('ZREM', prefix .. ':worker-ids', worker)
  call('ZREM', prefix .. ':worker-beats', worker)
end
-- A heartbeat raises the version like a change of a schedule. So a server that went back to before the heartbeat is detected,
-- even if no schedule changed since. If the version is below the one that the worker has seen, raising it would hide the loss.
local version = tonumber(call('GET', prefix .. ':versions') or 0)
if version >= tonumber(ARGV[5]) then
  version = call('INCR', prefix .. ':versions')
end
return { now, gone, call('HGET', prefix .. ':schema', 'mark'), version, batch }
`,
)

type BeatReply = readonly [
  now: number,
  gone: readonly GoneRow[],
  mark: string | null,
  version: number,
  batch: number,
]
type GoneRow = readonly [runId: string, attempt: string, why: "cancelled" | "lost"]

export async function beat(
  connection: Connection,
  lossDetector: LossDetector,
  heartbeat: Heartbeat,
): Promise<HeartbeatAnswer> {
  const { worker, nextInMs, isLeaving, held, statistics } = heartbeat
  const { id, ...about } = worker
  const gone: GoneRow[] = []
  let [now, batch] = [0, 0]
  const slices = held.length === 0 ? [held] : slicesOf(held)
  for (const [index, slice] of slices.entries()) {
    const isLast = index === slices.length - 1
    // Only the last call says that the worker leaves, and sends its statistics.
    const workerArgs = [
      id,
      isLeaving && isLast ? 1 : 0,
      JSON.stringify(about),
      held.length,
      lossDetector.version,
    ]
    const runArgs = [nextInMs, slice.length, ...slice.flatMap(heldArgs)]
    const statisticsArgs = isLast ? batchArgs(statistics) : []
    const reply = await connection.run<BeatReply>(BEAT, [...workerArgs, ...runArgs, ...statisticsArgs])
    now = reply[0]
    gone.push(...reply[1])
    lossDetector.compare(reply[2], reply[3])
    batch = reply[4]
  }
  const areStatisticsIn = statistics === null || batch >= statistics.number
  return {
    now,
    areStatisticsIn,
    gone: gone.map(([runId, attempt, why]) => ({ runId, attempt: Number(attempt), why })),
  }
}

function heldArgs({ runId, attempt, leaseMs, progress }: HeldRun): (string | number)[] {
  return [runId, attempt, leaseMs, progress === null ? "" : JSON.stringify(progress)]
}

// Arguments: the id before the first, the limit.
const WORKERS = scriptOf(
  [KEYS],
  `
local found = {}
local after = ARGV[1] == '' and '-' or '(' .. text_of(ARGV[1])
for _, id in ipairs(call('ZRANGEBYLEX', prefix .. ':worker-ids', after, '+', 'LIMIT', 0, ARGV[2])) do
  local fields = fields_in(prefix .. ':workers:' .. id, 'about', 'started_at', 'heartbeat_at', 'running', 'expected_by')
  found[#found + 1] = {
    fields[1] or false, fields[2] or false, fields[3] or false, fields[4] or false, id, fields[5] or false,
  }
end
return found
`,
)

type WorkerRow = readonly [
  about: string | null,
  startedAt: string | null,
  heartbeatAt: string | null,
  running: string | null,
  id: string,
  expectedBy: string | null,
]

export async function findWorkers(
  connection: Connection,
  { afterId, limit }: { afterId: string | null; limit: number },
): Promise<readonly Worker[]> {
  const rows = await connection.run<readonly WorkerRow[]>(WORKERS, [
    afterId === null ? "" : `=${afterId}`,
    limit,
  ])
  return rows.map(([about, startedAt, heartbeatAt, running, id, expectedBy]) =>
    readableWorker({
      ...aboutOf(about ?? ""),
      id,
      startedAt: instantIn(startedAt),
      heartbeatAt: instantIn(heartbeatAt),
      expectedBy: instantIn(expectedBy),
      running: numberOf(running),
    }),
  )
}

function aboutOf(text: string): object {
  try {
    return Object(storedJson(text))
  } catch {
    return {}
  }
}
