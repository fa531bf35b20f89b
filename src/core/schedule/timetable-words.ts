import { describeCron } from "../cron/describe.ts"
import { formatInstant } from "../time/instant.ts"
import { cronOf, type Timetable, type Trigger } from "./timetable.ts"
import { readableTriggers } from "./unread-options.ts"

/** When a schedule occurs, in English: one sentence per trigger, in the schedule's time zone. */
export function timetableInWords(timetable: Timetable): string {
  return readableTriggers(timetable.triggers)
    .map((trigger) => triggerInWords(timetable, trigger))
    .join("; ")
}

function triggerInWords(timetable: Timetable, trigger: Trigger): string {
  if (trigger.kind === "at") return `Once, at ${formatInstant(trigger.at)}`
  try {
    return describeCron(cronOf(timetable, trigger))
  } catch {
    // A trigger written without our checks may be unreadable; the schedule's `lastError` says why.
    return "Never: the trigger can't be read"
  }
}
