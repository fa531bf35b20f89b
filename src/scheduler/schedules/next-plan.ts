import { isEdited } from "../../core/edits.ts"
import { afterNextPlan } from "../../core/next-plan.ts"
import type { Schedule } from "../../core/schedule.ts"
import { readFacts } from "../../engine/facts.ts"
import type { Store } from "../../store/store.ts"

/** Where somebody wrote to it without our checks, as the next plan will leave it: that depends on what is unfinished. */
export async function withEditsPlanned(store: Store, schedule: Schedule): Promise<Schedule> {
  return isEdited(schedule) ? afterNextPlan(schedule, await readFacts(store, schedule)) : schedule
}
