import { isEdited } from "../../core/planning/edits.ts"
import { afterNextPlan } from "../../core/planning/next-plan.ts"
import type { Schedule } from "../../core/schedule/schedule.ts"
import { readFacts } from "../../engine/facts.ts"
import type { Store } from "../../store/store.ts"

/** If the row was written by SQL directly: the schedule as the next plan will leave it, which depends on the unfinished runs. */
export async function withEditsPlanned(store: Store, schedule: Schedule): Promise<Schedule> {
  return isEdited(schedule) ? afterNextPlan(schedule, await readFacts(store, schedule)) : schedule
}
