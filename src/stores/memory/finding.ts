import type { Run, RunState } from "../../core/run.ts"
import type { Schedule } from "../../core/schedule.ts"
import type {
  OccurrencePage,
  OccurrenceRecord,
  RunFilter,
  RunPage,
  ScheduleFilter,
  Worker,
} from "../../store/store.ts"

export function pageOfSchedules(
  schedules: Iterable<Schedule>,
  filter: ScheduleFilter,
  page: { afterId: string | null; limit: number },
): readonly Schedule[] {
  return [...schedules]
    .filter((schedule) => isWanted(schedule, filter) && (page.afterId === null || schedule.id > page.afterId))
    .sort(byId)
    .slice(0, page.limit)
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

/** Ids are ASCII, where the order of JavaScript's strings is that of their bytes. */
function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1
}

function isWanted(schedule: Schedule, { ids, owner, task, tag }: ScheduleFilter): boolean {
  return (
    (ids === undefined || ids.includes(schedule.id)) &&
    (owner === undefined || schedule.owner === owner) &&
    (task === undefined || schedule.task === task) &&
    (tag === undefined || schedule.tags.includes(tag))
  )
}

export function pageOfRuns(runs: Iterable<Run>, filter: RunFilter, page: RunPage): readonly Run[] {
  const { orderBy, before, limit } = page
  const comesLater = (run: Run) =>
    before === null || run[orderBy]! < before.at || (run[orderBy] === before.at && run.id < before.id)
  return [...runs]
    .filter((run) => matches(run, filter) && run[orderBy] !== null && comesLater(run))
    .sort((a, b) => b[orderBy]! - a[orderBy]! || byId(b, a))
    .slice(0, limit)
}

export function pageOfOccurrences(
  runs: Iterable<Run>,
  { scheduleId, after, before, limit }: OccurrencePage,
): readonly OccurrenceRecord[] {
  return pageOfRuns(runs, { scheduleId }, { orderBy: "scheduledFor", before, limit })
    .filter(({ scheduledFor }) => scheduledFor! > after)
    .map(({ id, state, missed, scheduledFor }) => ({ id, state, missed, scheduledFor: scheduledFor! }))
}

export function countByState(runs: Iterable<Run>, filter: RunFilter): Record<RunState, number> {
  const counts = { pending: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }
  for (const run of runs) if (matches(run, filter)) counts[run.state]++
  return counts
}

function matches(run: Run, filter: RunFilter): boolean {
  const { ids, scheduleId, task, states, triggeredBy, concurrencyKey } = filter
  return (
    (ids === undefined || ids.includes(run.id)) &&
    (scheduleId === undefined || run.scheduleId === scheduleId) &&
    (task === undefined || run.task === task) &&
    (states === undefined || states.includes(run.state)) &&
    (triggeredBy === undefined || triggeredBy.includes(run.triggeredBy)) &&
    (concurrencyKey === undefined || run.concurrencyKey === concurrencyKey)
  )
}
