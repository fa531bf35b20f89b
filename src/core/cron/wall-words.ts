import { DAY, type Instant, SECOND } from "../time/instant.ts"
import type { Zone } from "../time/zone.ts"
import { clockWords } from "./words.ts"

/** Wall times as text. A wall time is the number of milliseconds that the same digits have in UTC. */

export function wallAt(zone: Zone, instant: Instant): number {
  return instant + zone.spanAt(instant).offset
}

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

/** `Sun 29 Mar 2026`. Not by `Intl`, because its output differs between runtimes. */
export function dateWords(wall: number): string {
  const date = new Date(wall)
  return `${WEEKDAYS[date.getUTCDay()]} ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}

/** `02:30`, with seconds only if they are not 0. */
export function timeOfDayWords(wall: number): string {
  const second = Math.floor((((wall % DAY) + DAY) % DAY) / SECOND)
  return clockWords(second, second % 60 !== 0)
}
