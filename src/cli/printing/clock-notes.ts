import type { CalendarCron, Cron } from "../../core/cron/cron.ts"
import { wallAtOrAfter } from "../../core/cron/wall.ts"
import { timeOfDayWords } from "../../core/cron/wall-words.ts"
import { DAY, HOUR, type Instant } from "../../core/time/instant.ts"
import { spanWords } from "./time-text.ts"

/** A note if a change of clocks affects the occurrence. Empty: it does not. */
export function clockNote(cron: Cron, at: Instant, previous: Instant | null): string {
  if (cron.kind === "interval" || !cron.isFixedTime) return ""
  const span = cron.zone.spanAt(at)
  const resumesAt = span.from + span.offset
  if (at === span.from && span.seenUntil < resumesAt) {
    const skipped = wallAtOrAfter(cron, span.seenUntil)
    if (skipped < resumesAt)
      return `DST: ${timeOfDayWords(skipped)} does not exist, runs once at ${timeOfDayWords(resumesAt)}`
  }
  const wall = at + span.offset
  if (wall < span.seenUntil) return `DST: ${timeOfDayWords(wall)} occurs twice, this is the second`
  if (wall >= span.repeatsFrom) return `DST: ${timeOfDayWords(wall)} occurs twice, this is the first`
  return previous === null ? "" : distanceNote(cron, at, previous)
}

/** The elapsed time since the previous occurrence, if it differs from the difference of the wall times. */
function distanceNote(cron: CalendarCron, at: Instant, previous: Instant): string {
  const elapsed = at - previous
  const isAsShown = nominalWall(cron, at) - nominalWall(cron, previous) === elapsed
  return isAsShown || elapsed > 8 * DAY ? "" : `${hoursOrSpan(elapsed)} after the previous`
}

/** The wall time of the expression, even if the clock skipped it. */
function nominalWall(cron: CalendarCron, at: Instant): number {
  const { from, offset, seenUntil } = cron.zone.spanAt(at)
  const isAfterGap = at === from && seenUntil < from + offset
  return isAfterGap ? Math.min(wallAtOrAfter(cron, seenUntil), at + offset) : at + offset
}

function hoursOrSpan(ms: number): string {
  const hours = ms / HOUR
  return hours <= 48 && Number.isInteger(hours * 4) ? `${hours} h` : spanWords(ms)
}
