import { isFinished, type RunState, type TriggeredBy } from "../../../core/run.ts"
import type { RunFilter, RunPage } from "../../../store/store.ts"

/** A part of all runs that can be read in order by an index of its own. */
export interface Side {
  readonly where: string
  /** By an index, so that the first of them are read and no more. Otherwise all are read, and sorted with the other sides'. */
  readonly isSorted: boolean
}

const sorted = (where: string): Side => ({ where, isSorted: true })

/**
 * An index by creation that had every run would be written at each of its steps. So what waits and what has ended have one
 * each, and what is running has none: that is never much, and all of it is read by runs_due. A run that is asked for by its id
 * needs none of them, and is found even if it ended at no time.
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
  const isAsked = (side: (state: RunState) => boolean) => states?.some(side) !== false
  return [
    ...(isAsked((state) => state === "pending")
      ? pendingSides(task === undefined ? null : taskParameter)
      : []),
    ...(isAsked((state) => state === "running") ? [sorted(IS_RUNNING)] : []),
    ...(isAsked(isFinished) ? finishedSides(triggeredBy) : []),
  ]
}

/** In the words of runs_due. */
const IS_RUNNING = "r.state = 'running' and r.claimable_at is not null"

const IS_PENDING = "r.state = 'pending'"
const PENDING_FEW = 5_000

/**
 * Runs that wait have an index by creation, and one by task. Of a task with few of them all are read, else a rare task's would be
 * looked for among everybody's. One with many turns up often enough among all.
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

/** Those that neither a timetable nor an ordinary enqueue made are few, and have an index by what made them. */
function finishedSides(triggeredBy: readonly TriggeredBy[] | undefined): readonly Side[] {
  const ended = "r.completed_at is not null"
  const isRare = triggeredBy?.every((each) => RARE.includes(each)) === true
  if (!isRare) return [sorted(ended)]
  return RARE.filter((each) => triggeredBy.includes(each)).map((each) =>
    sorted(`${ended} and r.triggered_by = '${each}'`),
  )
}

const RARE: readonly TriggeredBy[] = ["catchup", "manual", "backfill"]
