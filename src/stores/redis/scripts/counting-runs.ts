import type { RunState } from "../../../core/run/run.ts"
import { noRunCounts, RUN_STATES, type RunCounts } from "../../../core/run/run-states.ts"
import { concurrencyKeyOf } from "../../../core/schedule/schedule.ts"
import { isWantedRun } from "../../../store/run-filter.ts"
import type { RunFilter } from "../../../store/store.ts"
import { runCountsOf } from "../../kit/counts.ts"
import type { Connection } from "../connection.ts"
import { RUNS } from "../lua/runs.ts"
import { indexesFor } from "../run-indexes.ts"
import { marked, scriptOf } from "../script.ts"
import { readRuns } from "./reading-runs.ts"
import { type Place, type WalkReply, walk } from "./walking-runs.ts"

// Arguments: the key of the single run that is not in the counts, and the fields of the counts. Returns the state of that run,
// and the counts. Nil if another program wrote a value that is not a count.
const COUNTS = scriptOf(
  [RUNS],
  `
local key = text_of(ARGV[1])
local _, single
if key then
  _, single = single_of(key)
end
local counts = call('HMGET', COUNTS, unpack(ARGV, 2))
for _, count in ipairs(counts) do
  if not count_in(count) then
    return false
  end
end
return { single and single.state or false, unpack(counts) }
`,
)

type CountsReply = readonly [single: RunState | null, ...counts: (string | null)[]] | null

export async function countRuns(
  connection: Connection,
  filter: RunFilter,
  limit: number,
): Promise<RunCounts> {
  const counts = noRunCounts()
  if (filter.states?.length === 0 || filter.triggeredBy?.length === 0) return counts
  const field = keptCountOf(filter)
  const { ids, ...rest } = filter
  if (ids !== undefined) {
    for (const run of await readRuns(connection, ids)) if (isWantedRun(run, rest)) counts[run.state]++
  } else if (field === null || !(await countByField(connection, filter, field, counts))) {
    await countByWalking(connection, filter, counts)
  }
  return runCountsOf(Object.entries(counts), limit)
}

/** The field of a stored count: of all runs, of a task or of a schedule. Null if the filter needs more than that. */
function keptCountOf(filter: RunFilter): string | null {
  const { scheduleId, task } = filter
  if (NOT_COUNTED.some((part) => filter[part] !== undefined)) return null
  if (scheduleId === undefined) return task === undefined ? ":all" : `:task:${task}`
  return task === undefined ? `:schedule:${scheduleId}` : null
}

const NOT_COUNTED = ["idPrefix", "parentId", "workerId", "triggeredBy", "concurrencyKey"] as const

/** False if a stored count cannot be read. */
async function countByField(
  connection: Connection,
  { scheduleId, states = RUN_STATES }: RunFilter,
  field: string,
  counts: RunCounts,
): Promise<boolean> {
  const singleKey = scheduleId === undefined ? null : concurrencyKeyOf(scheduleId)
  const fields = RUN_STATES.map((state) => state + field)
  const reply = await connection.run<CountsReply>(COUNTS, [marked(singleKey), ...fields])
  if (reply === null) return false
  const [single, ...kept] = reply
  for (const [index, state] of RUN_STATES.entries()) {
    if (states.includes(state)) counts[state] = Number(kept[index]) + (single === state ? 1 : 0)
  }
  return true
}

async function countByWalking(connection: Connection, filter: RunFilter, counts: RunCounts): Promise<void> {
  for (const index of indexesFor(filter, "createdAt")) {
    let before: Place | null = null
    for (;;) {
      const reply: WalkReply = await walk(connection, index, { filter, before, limit: 1, what: "count" })
      const [isOver, at, id, sums] = reply
      for (const [state, sum] of sums as readonly (readonly [RunState, number])[]) counts[state] += sum
      if (isOver === 1) break
      before = { at: at!, id: id! }
    }
  }
}
