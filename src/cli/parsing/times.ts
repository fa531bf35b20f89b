import { BelfryError } from "../../core/errors.ts"
import { durationMsOf } from "../../core/time/duration.ts"
import { DAY, HOUR, type Instant, instantOf as instantFrom, MINUTE } from "../../core/time/instant.ts"
import { type Zone, zoneNamed } from "../../core/time/zone.ts"

/** Parses times typed by a person. */

export interface TimeContext {
  readonly now: Instant
  /** The zone of a time without an offset. */
  readonly zone: string
}

export interface TypedTime {
  readonly instant: Instant
  /** The zone that was used, if the text has none. Null: the text is unambiguous. */
  readonly note: string | null
}

/** RFC 3339, `2026-03-29 02:30`, `tomorrow 9am`, `now`, `+2h`, `-1d`. */
export function parseTime(text: string, what: string, context: TimeContext): TypedTime {
  const trimmed = text.trim()
  if (trimmed === "now") return { instant: context.now, note: null }
  const relative = /^([+-])(.+)$/.exec(trimmed)
  if (relative !== null) {
    const ms = durationMsOf(relative[2]!)
    if (ms === null) throw notATime(text, what)
    return { instant: checkedInstant(context.now + (relative[1] === "+" ? ms : -ms), text, what), note: null }
  }
  const wall = wallOf(trimmed, what, context)
  if (wall === null) return { instant: checkedInstant(trimmed, text, what), note: null }
  const { instant, isShifted } = instantOf(zoneNamed(context.zone), wall)
  const shift = isShifted ? "; the clock skips that time, so the first time after the gap is used" : ""
  return { instant: checkedInstant(instant, text, what), note: `${what}: ${text} in ${context.zone}${shift}` }
}

const WALL = /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d?):(\d\d)(?::(\d\d))?)?$/
const DAY_WORD = /^(yesterday|today|tomorrow)(?:\s+(?:at\s+)?(\d{1,2})(?::(\d\d))?\s*(am|pm)?)?$/i

/** The wall time as milliseconds in UTC. Null: the text is not a wall time. */
function wallOf(text: string, what: string, { now, zone }: TimeContext): number | null {
  const digits = WALL.exec(text)
  if (digits !== null) {
    const [year, month, day, hour = 0, minute = 0, second = 0] = digits
      .slice(1)
      .map((part) => (part === undefined ? undefined : Number(part))) as [number, number, number]
    const wall = wallFrom([year, month, day, hour, minute, second])
    if (wall === null) throw notATime(text, what)
    return wall
  }
  const word = DAY_WORD.exec(text)
  if (word === null) return null
  const today = Math.floor((now + zoneNamed(zone).spanAt(now).offset) / DAY) * DAY
  const days = { yesterday: -1, today: 0, tomorrow: 1 }[word[1]!.toLowerCase() as "today"]
  const minute = Number(word[3] ?? 0)
  const hour = hourOf(Number(word[2] ?? 0), word[4]?.toLowerCase())
  if (hour > 23 || minute > 59) throw notATime(text, what)
  return today + days * DAY + hour * HOUR + minute * MINUTE
}

function hourOf(hour: number, half: string | undefined): number {
  if (half === undefined) return hour
  if (hour < 1 || hour > 12) return 99
  return (hour % 12) + (half === "pm" ? 12 : 0)
}

/** `Date` turns 30 February into 2 March. So the parts are compared with the result, and a difference means an invalid date. */
function wallFrom(parts: readonly number[]): number | null {
  const [year, month, day, hour, minute, second] = parts as [number, number, number, number, number, number]
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second)
  const isSame = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && date.getUTCHours() === hour
  return isSame && minute <= 59 && second <= 59 ? date.getTime() : null
}

function checkedInstant(value: number | string, text: string, what: string): Instant {
  const instant = instantFrom(value)
  if (instant === null) throw notATime(text, what)
  return instant
}

function notATime(text: string, what: string): BelfryError {
  const shown = JSON.stringify(text.slice(0, 80))
  return new BelfryError("BELFRY_INSTANT_INVALID", `${what} ${shown} is not a time.`)
}

/** The first instant with this wall time. If the clock skips it, the first instant after the gap. */
export function instantOf(zone: Zone, wall: number): { instant: Instant; isShifted: boolean } {
  // Starting two days earlier covers every possible offset.
  for (let span = zone.spanAt(wall - 2 * DAY); ; span = zone.spanAt(span.until)) {
    if (wall < span.until + span.offset) {
      const first = span.from + span.offset
      const isBefore = Number.isFinite(first) && wall < first
      return { instant: isBefore ? span.from : wall - span.offset, isShifted: isBefore }
    }
  }
}
