import type { RunSummary } from "../../core/run/run-summary.ts"
import type { RunPage } from "../../store/store.ts"

/** Pages of runs, for stores that order them in memory. */

export function pageOfRuns<Each extends RunSummary>(runs: readonly Each[], page: RunPage): readonly Each[] {
  return runs
    .filter((run) => isOnPage(run, page))
    .sort((a, b) => compareRuns(a, b, page.orderBy))
    .slice(0, page.limit)
}

function isOnPage(run: RunSummary, { orderBy, after, from, until }: RunPage): boolean {
  if (orderBy === "id") return after === null || run.id > after.id
  const at = run[orderBy]
  if (at === null || at < (from ?? at) || at >= (until ?? Number.POSITIVE_INFINITY)) return false
  return after === null || at < after.at! || (at === after.at && run.id < after.id)
}

function compareRuns(a: RunSummary, b: RunSummary, orderBy: RunPage["orderBy"]): number {
  return orderBy === "id" ? byId(a, b) : b[orderBy]! - a[orderBy]! || byId(b, a)
}

/** Ids are ASCII, so JavaScript orders them by their bytes. */
export function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1
}
