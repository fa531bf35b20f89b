import { exactDuration } from "../time/duration.ts"
import { formatInstant } from "../time/instant.ts"
import type { Trigger } from "./timetable.ts"
import { readableTriggers } from "./unread-options.ts"

/** The triggers as short text, such as `0 9 * * *, @every 1h`. */
export function describeTriggers(triggers: readonly Trigger[]): string {
  return readableTriggers(triggers).map(triggerText).join(", ")
}

/** One trigger as short text: a cron expression, `@at <instant>` or `@every <duration>`. */
export function triggerText(trigger: Trigger): string {
  if (trigger.kind === "cron") return trigger.cron
  if (trigger.kind === "at") return `@at ${formatInstant(trigger.at)}`
  // Written by SQL without our checks.
  if (trigger.kind !== "every" || !(trigger.everyMs >= 1)) return "@unreadable"
  return `@every ${exactDuration(trigger.everyMs)}`
}
