import { changedFields, definitionOf } from "../schedule/reconcile.ts"
import type { NewSchedule, Schedule, ScheduleDefinition } from "../schedule/schedule.ts"
import { newScheduleOf } from "../schedule/stored-schedule.ts"
import { readableTriggers } from "../schedule/unread-options.ts"
import type { Instant } from "../time/instant.ts"
import { overridesKept } from "./overrides.ts"
import { replan } from "./steer.ts"

/** The fields that decide which instants are occurrences, and the fields that decide when a schedule is due. */
const OCCURRENCES: readonly string[] = ["triggers", "timezone", "dst", "startsAt", "endsAt"]
const TIMING: readonly string[] = [...OCCURRENCES, "jitterMs", "spacingMs", "maxRuns", "enabled"]

export function hasOtherTiming(stored: ScheduleDefinition, definition: ScheduleDefinition): boolean {
  return changedFields(stored, definition).some((field) => TIMING.includes(field))
}

/** The schedule with a new definition, to be stored. The next occurrence moves only if a field in `TIMING` changed. */
export function redefine(
  stored: Schedule,
  definition: ScheduleDefinition,
  now: Instant,
  declaredAs: string | null = stored.declaredAs,
): NewSchedule {
  const fields = changedFields(definitionOf(stored), definition)
  const edited: NewSchedule = {
    ...newScheduleOf(stored),
    ...definition,
    declaredAs,
    revision: stored.revision + (fields.length > 0 ? 1 : 0),
    updatedAt: fields.length > 0 ? now : stored.updatedAt,
  }
  if (!fields.some((field) => TIMING.includes(field))) return edited
  const changed = changedFields(timesOf(stored), timesOf(definition))
  const hasNewTimetable = changed.some((field) => OCCURRENCES.includes(field))
  return replan(hasNewTimetable ? { ...edited, overrides: overridesKept(edited, now) } : edited, now)
}

/** Without unreadable options, which are stored among the triggers but don't change the timetable. */
function timesOf(definition: ScheduleDefinition): ScheduleDefinition {
  return { ...definition, triggers: readableTriggers(definition.triggers) }
}
