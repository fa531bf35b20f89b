import type { Instant } from "./instant.ts"
import { overridesKept } from "./overrides.ts"
import { changedFields, definitionOf } from "./reconcile.ts"
import type { Schedule, ScheduleDefinition } from "./schedule.ts"
import { planAnew } from "./steer.ts"
import { timesIn } from "./unread-options.ts"

/** The parts of a definition that say which instants are occurrences, and those that say when one is due. */
const OCCURRENCES: readonly string[] = ["triggers", "timezone", "dst", "startsAt", "endsAt"]
const TIMING: readonly string[] = [...OCCURRENCES, "jitterMs", "spacingMs", "maxRuns", "enabled"]

export function isTimedOtherwise(stored: ScheduleDefinition, definition: ScheduleDefinition): boolean {
  return changedFields(stored, definition).some((field) => TIMING.includes(field))
}

/** The schedule with another definition. The next occurrence moves only if the definition says when differently. */
export function redefine(
  stored: Schedule,
  definition: ScheduleDefinition,
  now: Instant,
  declaredAs: string | null = stored.declaredAs,
): Schedule {
  const fields = changedFields(definitionOf(stored), definition)
  const edited: Schedule = {
    ...stored,
    ...definition,
    declaredAs,
    revision: stored.revision + (fields.length > 0 ? 1 : 0),
    updatedAt: fields.length > 0 ? now : stored.updatedAt,
  }
  if (!fields.some((field) => TIMING.includes(field))) return edited
  const others = changedFields(timesOf(stored), timesOf(definition))
  const isOther = others.some((field) => OCCURRENCES.includes(field))
  return planAnew(isOther ? { ...edited, overrides: overridesKept(edited, now) } : edited, now)
}

/** Options that couldn't be read, or can be again, are no other timetable. */
function timesOf(definition: ScheduleDefinition): ScheduleDefinition {
  return { ...definition, triggers: timesIn(definition.triggers) }
}
