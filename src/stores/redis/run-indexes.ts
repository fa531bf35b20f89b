import { type Run, type RunState, type TriggeredBy, UNFINISHED } from "../../core/run.ts"
import { concurrencyKeyOf } from "../../core/schedule.ts"
import type { RunFilter, RunPage } from "../../store/store.ts"

/** A sorted set of runs: its kind, whose runs it holds, and the field that is their score. */
export interface RunIndex {
  readonly kind: string
  readonly name: string
  readonly orderedBy: string
  /** An unfinished run that holds this live key, its schedule's own, belongs there and is not in it. */
  readonly singleKey: string | null
}

const ORDERS = { createdAt: "created", scheduledFor: "scheduled", completedAt: "completed" } as const
const ORDERED_BY = {
  createdAt: "created_at",
  scheduledFor: "scheduled_for",
  completedAt: "completed_at",
} as const

/** The narrowest that hold, in the order asked for, all that the filter can match. */
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
  // Most runs succeed: of those that end otherwise there is a set for each way.
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

/** Of each of these there is a set. */
export const RARELY_TRIGGERED_BY: readonly TriggeredBy[] = ["manual", "backfill", "catchup"]

const UNUSUAL: readonly RunState[] = ["failed", "cancelled", "skipped"]

/** For runs that were named by their ids. */
export function isWanted(run: Run, filter: RunFilter): boolean {
  const { idPrefix, scheduleId, parentId, workerId, task, states, triggeredBy, concurrencyKey } = filter
  return (
    (idPrefix === undefined || run.id.startsWith(idPrefix)) &&
    (parentId === undefined || run.parentId === parentId) &&
    (workerId === undefined || run.workerId === workerId) &&
    (scheduleId === undefined || run.scheduleId === scheduleId) &&
    (task === undefined || run.task === task) &&
    (states === undefined || states.includes(run.state)) &&
    (triggeredBy === undefined || triggeredBy.includes(run.triggeredBy)) &&
    (concurrencyKey === undefined || run.concurrencyKey === concurrencyKey)
  )
}
