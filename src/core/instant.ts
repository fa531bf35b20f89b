import { BelfryError } from "./errors.ts"

/** A moment in time: milliseconds since 1970-01-01T00:00Z. `Date` appears only at the public door. */
export type Instant = number

export const SECOND = 1_000
export const MINUTE = 60_000
export const HOUR = 3_600_000
export const DAY = 86_400_000

/** Years 1 to 9999: what RFC 3339 can write. Nothing is scheduled outside. */
export const EARLIEST: Instant = Date.UTC(2001, 0, 1) - 730_485 * DAY
export const LATEST: Instant = Date.UTC(10_000, 0, 1) - 1

/** `2026-03-27T07:00:00Z`; milliseconds only where there are any, so that ids made of it stay short. */
export function formatInstant(instant: Instant): string {
  return new Date(instant).toISOString().replace(".000Z", "Z")
}

const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)$/

/** Parse at the door: a `Date`, milliseconds, or RFC 3339 text that carries its offset. */
export function parseInstant(value: Date | number | string, what = "instant"): Instant {
  const instant = typeof value === "string" ? parseText(value) : toNumber(value)
  if (Number.isFinite(instant) && instant >= EARLIEST && instant <= LATEST) return Math.floor(instant)
  throw new BelfryError(
    "BELFRY_INSTANT_INVALID",
    `The ${what} ${shown(value)} is not an instant. Pass a Date, or text with an offset such as "2026-03-27T07:00:00Z".`,
    { details: { what, value: String(value).slice(0, SHOWN_MAX) } },
  )
}

function parseText(text: string): number {
  const match = RFC_3339.exec(text)
  if (!match) return Number.NaN
  const [, year, month, day] = match.map(Number) as [number, number, number, number]
  // `Date` takes 30 February for 2 March. Day 0 of the following month is the last of this one.
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
  return day <= lastDay ? Date.parse(text.replace(" ", "T").toUpperCase()) : Number.NaN
}

/** Not `Number(value)` for everything: null would be 1970. */
function toNumber(value: Date | number): number {
  return typeof value === "number" ? value : value instanceof Date ? value.getTime() : Number.NaN
}

const SHOWN_MAX = 80

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, SHOWN_MAX))
  if (value instanceof Date && Number.isNaN(value.getTime())) return "an invalid Date"
  return String(value).slice(0, SHOWN_MAX)
}
