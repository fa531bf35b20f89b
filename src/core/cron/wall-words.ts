import { DAY, type Instant, SECOND } from "../instant.ts"
import type { Zone } from "../zone.ts"
import { clockWords } from "./words.ts"

/** Wall times for people. A wall time is the milliseconds its digits would have in UTC. */

export function wallAt(zone: Zone, instant: Instant): number {
  return instant + zone.spanAt(instant).offset
}

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

/** `Sun 29 Mar 2026`: by hand, since what `Intl` writes differs between runtimes. */
export function dateWords(wall: number): string {
  const date = new Date(wall)
  return `${WEEKDAYS[date.getUTCDay()]} ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}

/** `02:30`, with seconds only if there are any. */
export function timeOfDayWords(wall: number): string {
  const second = Math.floor((((wall % DAY) + DAY) % DAY) / SECOND)
  return clockWords(second, second % 60 !== 0)
}
