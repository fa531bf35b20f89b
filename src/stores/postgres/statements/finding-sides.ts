import { isFinished, type RunState, type TriggeredBy } from "../../../core/run/run.ts"
import type { RunFilter, RunPage } from "../../../store/store.ts"

/** A part of all runs that can be read in order by an index of its own. */
export interface Side {
  readonly where: string
  /** Read in order by an index, up to the page's limit. Otherwise all are read, and sorted together with the other sides. */
  readonly isSorted: boolean
}

const sorted = (where: string): Side => ({ where, isSorted: true })

/**
 * An index of all runs by creation would be written at every change of a run. So pending runs and finished runs have one each.
 * Running runs have none: they are few, and all of them are read by runs_due. A filter by id needs no such index, and also finds
 * finished runs without `completed_at`.
 */
export function sidesOf(
  filter: RunFilter,
  orderBy: RunPage["orderBy"],
  taskParameter: string,
): readonly Side[] {
  const { ids, idPrefix, parentId, workerId, task, states, triggeredBy } = filter
  const hasOwnIndex = ids !== undefined || idPrefix !== undefined || parentId !== undefined
  if (orderBy !== "createdAt" || hasOwnIndex) return [sorted("true")]
  if (workerId !== undefined) return [sorted(IS_RUNNING)]
  const isWanted = (side: (state: RunState) => boolean) => states?.some(side) !== false
  return [
    ...(isWanted((state) => state === "pending")
      ? pendingSides(task === undefined ? null : taskParameter)
      : []),
    ...(isWanted((state) => state === "running") ? [sorted(IS_RUNNING)] : []),
    ...(isWanted(isFinished) ? finishedSides(triggeredBy) : []),
  ]
}

/** Repeats the condition of the partial index runs_due, so that the planner uses it. */
const IS_RUNNING = "r.state = 'running' and r.claimable_at is not null"

const IS_PENDING = "r.state = 'pending'"
const PENDING_FEW = 5_000

/**
 * Pending runs have an index by creation and one by task. If a task has few pending runs, all of them are read by task: by
 * creation, they would be searched for among the runs of all tasks. Runs of a task with many are found quickly by creation.
 */
function pendingSides(task: string | null): readonly Side[] {
  if (task === null) return [sorted(IS_PENDING)]
  const isOfTask = `${IS_PENDING} and r.claimable_at is not null`
  const hasFew = `(
      select pg_catalog.count(*) <= ${PENDING_FEW}
      from (select from belfry.runs as r where ${isOfTask} and r.task = ${task} limit ${PENDING_FEW + 1}) as few
    )`
  return [{ where: `${hasFew} and ${isOfTask}`, isSorted: false }, sorted(`not ${hasFew} and ${IS_PENDING}`)]
}

/** Runs that neither a timetable nor an ordinary enqueue created are few, and have an index by `triggered_by`. */
function finishedSides(triggeredBy: readonly TriggeredBy[] | undefined): readonly Side[] {
  const ended = "r.completed_at is not null"
  const isRare = triggeredBy?.every((each) => RARE.includes(each)) === true
  if (!isRare) return [sorted(ended)]
  return RARE.filter((each) => triggeredBy.includes(each)).map((each) =>
    sorted(`${ended} and r.triggered_by = '${each}'`),
  )
}

const RARE: readonly TriggeredBy[] = ["catchup", "manual", "backfill"]
