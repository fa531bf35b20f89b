import type { Dependencies } from "../../core/schedule/dependency-cycles.ts"
import type { Schedule } from "../../core/schedule/schedule.ts"
import type { Clock } from "../../runtime/clock.ts"
import type { Store } from "../../store/store.ts"
import type { AnyTask } from "../../task/task.ts"
import { type ScheduleView, scheduleView } from "../views.ts"
import { Workers } from "../workers.ts"

/** The dependencies of the methods on schedules. */
export interface ScheduleParts {
  readonly store: Store
  readonly clock: Clock
  readonly tasks: ReadonlyMap<string, AnyTask>
  /** The schedules declared by this process with their dependencies. Local schedules are not in the store. */
  readonly declared: Dependencies
  /** Inside a transaction of the caller. Its uncommitted changes are not visible to the tasks' own checks. */
  readonly isWithin?: boolean
  ready(): Promise<void>
}

export type Viewer = (schedule: Schedule) => ScheduleView

/** Reads the workers once. Called before a change, so that a change that succeeded is not reported as failed by this read. */
export async function viewerOf(store: Store): Promise<Viewer> {
  const offered = await new Workers(store).offeredTasks()
  const now = await store.now()
  return (schedule) => scheduleView(schedule, offered, now)
}
