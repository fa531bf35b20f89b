import type { Schedule, ScheduleDefinition } from "../../src/core/schedule/schedule.ts"
import type { Trigger } from "../../src/core/schedule/timetable.ts"
import { DAY, HOUR, type Instant, MINUTE } from "../../src/core/time/instant.ts"

/**
 * The occurrences of a schedule, computed without code of the product: intervals by division, cron by trying every minute of the
 * simulated days. Only the forms that the simulation uses are supported.
 */
export function expectedOccurrences(
  definition: ScheduleDefinition & { createdAt: Instant },
  after: Instant,
  until: Instant,
): readonly Instant[] {
  const found = new Set<Instant>()
  for (const trigger of definition.triggers) {
    for (const at of occurrencesOf(trigger, definition, after, until)) found.add(at)
  }
  const { startsAt, endsAt } = definition
  return [...found]
    .filter((at) => (startsAt === null || at >= startsAt) && (endsAt === null || at <= endsAt))
    .sort((a, b) => a - b)
}

/** Whether the stored schedule may fire this occurrence. */
export function isOwed(known: Schedule, at: Instant, now: Instant): boolean {
  if (!known.enabled || (known.paused !== null && (known.paused.until ?? now + 1) > now)) return false
  const override = known.overrides.find(({ scheduledFor }) => scheduledFor === at)
  if (override !== undefined) return override.dueAt !== null
  if (known.overrides.some(({ isNext, scheduledFor }) => isNext === true && at < scheduledFor)) return false
  return expectedOccurrences(known, at - 1, at).length === 1
}

function occurrencesOf(
  trigger: Trigger,
  definition: ScheduleDefinition & { createdAt: Instant },
  after: Instant,
  until: Instant,
): readonly Instant[] {
  if (trigger.kind === "at") return trigger.at > after && trigger.at <= until ? [trigger.at] : []
  const found: Instant[] = []
  if (trigger.kind === "every") {
    const anchor = trigger.anchor ?? definition.startsAt ?? definition.createdAt
    const first = anchor + (Math.floor((after - anchor) / trigger.everyMs) + 1) * trigger.everyMs
    for (let at = first; at <= until; at += trigger.everyMs) found.push(at)
    return found
  }
  if (trigger.kind === "unreadable") return []
  if (trigger.cron === NIGHTLY_IN_BERLIN) return nightlyInBerlin(after, until)
  for (let at = Math.floor(after / MINUTE) * MINUTE + MINUTE; at <= until; at += MINUTE) {
    if (isMatch(trigger.cron, at)) found.push(at)
  }
  return found
}

/** `minute hour * * *` in UTC, each a star, a step or a number. */
function isMatch(cron: string, at: Instant): boolean {
  const [minute, hour] = cron.split(" ") as [string, string]
  return isFieldMatch(minute, Math.floor(at / MINUTE) % 60) && isFieldMatch(hour, Math.floor(at / HOUR) % 24)
}

function isFieldMatch(field: string, value: number): boolean {
  if (field === "*") return true
  return field.startsWith("*/") ? value % Number(field.slice(2)) === 0 : value === Number(field)
}

export const NIGHTLY_IN_BERLIN = "30 2 * * *"

/** Winter time is UTC+1. On 29 March 2026 02:30 doesn't exist, and on 25 October it comes twice. */
function nightlyInBerlin(after: Instant, until: Instant): readonly Instant[] {
  const spring = Date.UTC(2026, 2, 29)
  const autumn = Date.UTC(2026, 9, 25)
  const found: Instant[] = []
  for (let day = Math.floor(after / DAY) * DAY; day <= until; day += DAY) {
    const at = day === spring ? day + HOUR : day + 30 * MINUTE + (day > spring && day <= autumn ? 0 : HOUR)
    if (at > after && at <= until) found.push(at)
  }
  return found
}
