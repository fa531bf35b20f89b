import { defineSchedule, newSchedule } from "../../core/options/definition.ts"
import type { ScheduleOptions } from "../../core/options/options.ts"
import { storedSchedule } from "../../core/schedule/stored-schedule.ts"
import { type ScheduleView, scheduleView } from "../../scheduler/views.ts"

/** The view of a schedule in a file, for commands without a store. Throws if the definition is invalid. */
export function unstoredView(
  id: string,
  options: ScheduleOptions,
  about: { task: string; payload: unknown; now: number },
): ScheduleView {
  const definition = defineSchedule(options, { id, ...about, owner: null, release: 0 })
  // The task counts as offered, because there are no workers to read.
  const schedule = storedSchedule(newSchedule(id, definition, about.now), 0)
  return scheduleView(schedule, new Set([about.task]), about.now)
}
