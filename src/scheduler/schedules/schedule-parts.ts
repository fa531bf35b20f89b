import type { Dependencies } from "../../core/dependency-cycles.ts"
import type { Schedule } from "../../core/schedule.ts"
import type { Clock } from "../../runtime/clock.ts"
import type { Store } from "../../store/store.ts"
import type { AnyTask } from "../../task/task.ts"
import { type ScheduleView, scheduleView } from "../views.ts"
import { Workers } from "../workers.ts"

/** What the methods on schedules work with. */
export interface ScheduleParts {
  readonly store: Store
  readonly clock: Clock
  readonly tasks: ReadonlyMap<string, AnyTask>
  /** What this process declares, and what that depends on; local schedules are in no store. */
  readonly declared: Dependencies
  /** Inside somebody's transaction: what it has made so far isn't there for the tasks to see. */
  readonly isWithin?: boolean
  ready(): Promise<void>
}

export type Viewer = (schedule: Schedule) => ScheduleView

/** Reads the workers, once. Before a change: what has been done must not seem to fail because they can't be read. */
export async function viewerOf(store: Store): Promise<Viewer> {
  const offered = await new Workers(store).offeredTasks()
  const now = await store.now()
  return (schedule) => scheduleView(schedule, offered, now)
}
