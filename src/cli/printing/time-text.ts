import { dateWords, timeOfDayWords, wallAt } from "../../core/cron/wall-words.ts"
import { DAY, HOUR, type Instant, MINUTE, SECOND } from "../../core/time/instant.ts"
import { type Zone, zoneNamed } from "../../core/time/zone.ts"

/** Formats times for people: in a time zone, and as a distance from now. */

/** `Sun 29 Mar 03:00`. The year is omitted in the current year, the seconds if they are zero. */
export function wallWords(instant: Instant, zone: string, now: Instant): string {
  const clock = clockOf(zone)
  const wall = wallAt(clock, instant)
  const isThisYear = new Date(wall).getUTCFullYear() === new Date(wallAt(clock, now)).getUTCFullYear()
  const date = dateWords(wall)
  return `${isThisYear ? date.replace(/ \d+$/, "") : date} ${timeOfDayWords(wall)}`
}

/** UTC if the zone is unknown. The problem of the schedule is printed elsewhere. */
function clockOf(zone: string): Zone {
  try {
    return zoneNamed(zone)
  } catch {
    return zoneNamed("UTC")
  }
}

/** `+02:00`. */
export function offsetWords(instant: Instant, zone: string): string {
  const minutes = Math.round(clockOf(zone).spanAt(instant).offset / MINUTE)
  const size = Math.abs(minutes)
  const two = (count: number) => String(count).padStart(2, "0")
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

/** `Sun 29 Mar 03:00 (+02:00)`. */
export function zonedWords(instant: Instant, zone: string, now: Instant): string {
  return `${wallWords(instant, zone, now)} (${offsetWords(instant, zone)})`
}

/** The time in the schedule's zone, and in the user's zone if the offsets differ. */
export function bothWords(instant: Instant, zones: { own: string; viewer: string }, now: Instant): string {
  const own = zonedWords(instant, zones.own, now)
  if (offsetWords(instant, zones.own) === offsetWords(instant, zones.viewer)) return own
  const here = wallWords(instant, zones.viewer, now)
  // The date is printed once if it is the same in both zones.
  const isSameDay = dayOf(here) === dayOf(wallWords(instant, zones.own, now))
  return `${own} · ${isSameDay ? here.slice(dayOf(here).length + 1) : here} here`
}

function dayOf(words: string): string {
  return words.slice(0, words.lastIndexOf(" "))
}

const UNITS: readonly (readonly [string, number])[] = [
  ["d", DAY],
  ["h", HOUR],
  ["min", MINUTE],
  ["s", SECOND],
]

/** `2 h 5 min`: at most two units. */
export function spanWords(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 10 * SECOND) return `${(Math.floor(ms / 100) / 10).toString()} s`
  const first = UNITS.findIndex(([, size]) => ms >= size)
  const [unit, size] = UNITS[first]!
  const count = Math.floor(ms / size)
  const second = UNITS[first + 1]
  const rest = second === undefined || count >= 10 ? 0 : Math.floor((ms - count * size) / second[1])
  return `${count} ${unit}${rest === 0 ? "" : ` ${rest} ${second![0]}`}`
}

/** `in 5 min`, `3 h ago`. */
export function distanceWords(instant: Instant, now: Instant): string {
  if (Math.abs(instant - now) < SECOND) return "now"
  // Rounded up to seconds, so that 59.8 s is printed as 1 min.
  return instant > now
    ? `in ${spanWords(Math.ceil((instant - now) / SECOND) * SECOND)}`
    : `${spanWords(Math.floor((now - instant) / SECOND) * SECOND)} ago`
}

/** RFC 3339 in UTC, for programs. Null gives a dash. */
export function isoOrDash(date: Date | null): string {
  return date === null ? "-" : date.toISOString().replace(".000Z", "Z")
}
