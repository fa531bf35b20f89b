import { type RunState, type TriggeredBy, UNFINISHED } from "../../core/run/run.ts"
import { concurrencyKeyOf } from "../../core/schedule/schedule.ts"
import type { RunFilter, RunPage } from "../../store/store.ts"

/** A sorted set of runs. The key is `kind` followed by `name`; the score is the field `orderedBy`. */
export interface RunIndex {
  readonly kind: string
  readonly name: string
  readonly orderedBy: string
  /** An unfinished single run holds this live key. It belongs to the index but is not a member of the set. */
  readonly singleKey: string | null
}

const ORDERS = { createdAt: "created", scheduledFor: "scheduled", completedAt: "completed" } as const
const ORDERED_BY = {
  createdAt: "created_at",
  scheduledFor: "scheduled_for",
  completedAt: "completed_at",
} as const

/** The smallest indexes that contain every run the filter can match, in the order asked for. */
export function indexesFor(
  { scheduleId, parentId, workerId, task, states, triggeredBy, concurrencyKey }: RunFilter,
  orderBy: InstantOrder,
): readonly RunIndex[] {
  const isUnfinished = states?.every((state) => UNFINISHED.includes(state)) ?? false
  const orderedBy = ORDERED_BY[orderBy]
  if (orderBy === "createdAt" && isUnfinished && concurrencyKey !== undefined) {
    return [{ kind: ":unfinished:", name: concurrencyKey, orderedBy, singleKey: concurrencyKey }]
  }
  if (orderBy === "createdAt" && parentId !== undefined) {
    return [{ kind: ":children:", name: parentId, orderedBy, singleKey: null }]
  }
  const history = `:history:${ORDERS[orderBy]}`
  if (scheduleId !== undefined) {
    return [{ kind: `${history}:`, name: scheduleId, orderedBy, singleKey: concurrencyKeyOf(scheduleId) }]
  }
  const isRunning = workerId !== undefined || states?.every((state) => state === "running") === true
  if (orderBy === "createdAt" && isRunning) {
    return [{ kind: ":running-runs", name: "", orderedBy, singleKey: null }]
  }
  if (orderBy === "createdAt" && isUnfinished) {
    return [{ kind: ":unfinished", name: "", orderedBy, singleKey: null }]
  }
  // Most runs succeed. Each of the other final states has its own set.
  if (orderBy === "createdAt" && states?.every((state) => UNUSUAL.includes(state))) {
    return states.map((state) => ({ kind: `:history:${state}`, name: "", orderedBy, singleKey: null }))
  }
  if (orderBy === "createdAt" && triggeredBy?.every((way) => RARELY_TRIGGERED_BY.includes(way))) {
    return triggeredBy.map((way) => ({
      kind: ":history:triggered-by:",
      name: way,
      orderedBy,
      singleKey: null,
    }))
  }
  if (orderBy === "createdAt" && task !== undefined) {
    return [{ kind: ":history:task:", name: task, orderedBy, singleKey: null }]
  }
  return [{ kind: history, name: "", orderedBy, singleKey: null }]
}

type InstantOrder = Exclude<RunPage["orderBy"], "id">

/** Each of these has its own set. */
export const RARELY_TRIGGERED_BY: readonly TriggeredBy[] = ["manual", "backfill", "catchup"]

const UNUSUAL: readonly RunState[] = ["failed", "cancelled", "skipped"]
