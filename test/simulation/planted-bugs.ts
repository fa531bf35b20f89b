import { FIRING_BUGS } from "./planted-bugs/firing.ts"
import { OCCURRENCE_BUGS } from "./planted-bugs/occurrences.ts"
import { RUN_BUGS } from "./planted-bugs/runs.ts"
import { SCHEDULE_BUGS } from "./planted-bugs/schedules.ts"
import type { PlantedBug } from "./world.ts"

/**
 * Bugs that schedulers have shipped, planted one at a time. If the simulation missed one, its success would prove nothing.
 * A bug of the engine is planted by changing the requests that a process sends to the store, or the replies that it gets.
 * Each kind of bug has a file in `planted-bugs/`. The numbers run through all of them.
 */
export const PLANTED_BUGS: Readonly<Record<string, PlantedBug>> = Object.fromEntries(
  [FIRING_BUGS, OCCURRENCE_BUGS, RUN_BUGS, SCHEDULE_BUGS]
    .flatMap((bugs) => Object.entries(bugs))
    .sort(([a], [b]) => numberOf(a) - numberOf(b)),
)

/** 7 for "M7 …". */
function numberOf(bug: string): number {
  return Number(/^M(\d+) /.exec(bug)![1])
}
