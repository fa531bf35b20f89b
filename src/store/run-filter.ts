import type { RunSummary } from "../core/run/run-summary.ts"
import type { RunFilter } from "./calls.ts"

/** What a filter of runs means, for code that filters in memory. */
export function isWantedRun(run: RunSummary, filter: RunFilter): boolean {
  const { ids, idPrefix, scheduleId, parentId, workerId, task, states, triggeredBy, concurrencyKey } = filter
  return (
    (ids === undefined || ids.includes(run.id)) &&
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
