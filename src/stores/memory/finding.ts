import type { Run } from "../../core/run/run.ts"
import { type RunSummary, summaryOf } from "../../core/run/run-summary.ts"
import type { RunFilter, RunPage, Worker } from "../../store/store.ts"
import type { StateCount } from "../kit/counts.ts"

export function pageOfWorkers(
  workers: Iterable<Worker>,
  page: { afterId: string | null; limit: number },
): readonly Worker[] {
  return [...workers]
    .filter((worker) => page.afterId === null || worker.id > page.afterId)
    .sort(byId)
    .slice(0, page.limit)
}

/** Ids are ASCII, so JavaScript orders them by their bytes. */
function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1
}

export function pageOfRuns(runs: Iterable<Run>, filter: RunFilter, page: RunPage): readonly RunSummary[] {
  return [...runs]
    .filter((run) => matches(run, filter) && isOnPage(run, page))
    .sort((a, b) => compareRuns(a, b, page.orderBy))
    .slice(0, page.limit)
    .map(summaryOf)
}

function isOnPage(run: Run, { orderBy, after, from, until }: RunPage): boolean {
  if (orderBy === "id") return after === null || run.id > after.id
  const at = run[orderBy]
  if (at === null || at < (from ?? at) || at >= (until ?? Number.POSITIVE_INFINITY)) return false
  return after === null || at < after.at! || (at === after.at && run.id < after.id)
}

function compareRuns(a: Run, b: Run, orderBy: RunPage["orderBy"]): number {
  return orderBy === "id" ? byId(a, b) : b[orderBy]! - a[orderBy]! || byId(b, a)
}

export function* statesOfRuns(runs: Iterable<Run>, filter: RunFilter): Iterable<StateCount> {
  for (const run of runs) if (matches(run, filter)) yield [run.state, 1]
}

function matches(run: Run, filter: RunFilter): boolean {
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
