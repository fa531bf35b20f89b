import { type Run, type RunState, UNFINISHED } from "../../core/run.ts"
import type { RunFilter, RunPage } from "../../store/store.ts"

/** A sorted set of runs: its kind, and whose runs it holds. */
export interface RunIndex {
  readonly kind: string
  readonly name: string
}

const ORDERS = { createdAt: "created", scheduledFor: "scheduled", completedAt: "completed" } as const

/** The narrowest that hold, in the order asked for, all that the filter can match. */
export function indexesFor(
  { scheduleId, states, triggeredBy, concurrencyKey }: RunFilter,
  orderBy: RunPage["orderBy"],
): readonly RunIndex[] {
  if (states?.length === 0 || triggeredBy?.length === 0) return []
  const isUnfinished = states?.every((state) => UNFINISHED.includes(state)) ?? false
  if (orderBy === "createdAt" && isUnfinished && concurrencyKey !== undefined) {
    return [{ kind: ":unfinished:", name: concurrencyKey }]
  }
  const history = `:history:${ORDERS[orderBy]}`
  if (scheduleId !== undefined) return [{ kind: `${history}:`, name: scheduleId }]
  // Most runs succeed: of those that end otherwise there is a set for each way.
  if (orderBy === "createdAt" && states?.every((state) => UNUSUAL.includes(state))) {
    return states.map((state) => ({ kind: `:history:${state}`, name: "" }))
  }
  return [{ kind: history, name: "" }]
}

const UNUSUAL: readonly RunState[] = ["failed", "cancelled", "skipped"]

/** For runs that were named by their ids. */
export function isWanted(run: Run, filter: RunFilter): boolean {
  const { scheduleId, task, states, triggeredBy, concurrencyKey } = filter
  return (
    (scheduleId === undefined || run.scheduleId === scheduleId) &&
    (task === undefined || run.task === task) &&
    (states === undefined || states.includes(run.state)) &&
    (triggeredBy === undefined || triggeredBy.includes(run.triggeredBy)) &&
    (concurrencyKey === undefined || run.concurrencyKey === concurrencyKey)
  )
}
