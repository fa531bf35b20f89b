import { defineSchedule, newSchedule } from "../../core/options/definition.ts"
import type { ScheduleOptions } from "../../core/options/options.ts"
import { type ScheduleView, scheduleView } from "../../scheduler/views.ts"

/** The view of a schedule in a file, for commands without a store. Throws if the definition is invalid. */
export function unstoredView(
  id: string,
  options: ScheduleOptions,
  about: { task: string; payload: unknown; now: number },
): ScheduleView {
  const definition = defineSchedule(options, { id, ...about, owner: null, release: 0 })
  // The task counts as offered, because there are no workers to read.
  return scheduleView(newSchedule(id, definition, about.now), new Set([about.task]), about.now)
}
