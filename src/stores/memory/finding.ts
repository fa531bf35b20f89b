import type { Run } from "../../core/run/run.ts"
import { type RunSummary, summaryOf } from "../../core/run/run-summary.ts"
import { isWantedRun } from "../../store/run-filter.ts"
import type { RunFilter, RunPage, Worker } from "../../store/store.ts"
import type { StateCount } from "../kit/counts.ts"
import { byId, pageOfRuns } from "../kit/run-pages.ts"

export function findRuns(runs: Iterable<Run>, filter: RunFilter, page: RunPage): readonly RunSummary[] {
  const wanted = [...runs].filter((run) => isWantedRun(run, filter))
  return pageOfRuns(wanted, page).map(summaryOf)
}

export function* statesOfRuns(runs: Iterable<Run>, filter: RunFilter): Iterable<StateCount> {
  for (const run of runs) if (isWantedRun(run, filter)) yield [run.state, 1]
}

export function pageOfWorkers(
  workers: Iterable<Worker>,
  page: { afterId: string | null; limit: number },
): readonly Worker[] {
  return [...workers]
    .filter((worker) => page.afterId === null || worker.id > page.afterId)
    .sort(byId)
    .slice(0, page.limit)
}
