import { BelfryError } from "../errors.ts"
import { plain, shown } from "../values/shown.ts"

/** Milliseconds since 1970-01-01T00:00Z. `Date` appears only in the public API. */
export type Instant = number

export const SECOND = 1_000
export const MINUTE = 60_000
export const HOUR = 3_600_000
export const DAY = 86_400_000

/** Years 1 to 9999: the range of RFC 3339. Nothing is scheduled outside it. */
export const EARLIEST: Instant = Date.UTC(2001, 0, 1) - 730_485 * DAY
export const LATEST: Instant = Date.UTC(10_000, 0, 1) - 1

/** `2026-03-27T07:00:00Z`. Milliseconds are written only if they are not 0, so that ids made from it stay short. */
export function formatInstant(instant: Instant): string {
  return new Date(instant).toISOString().replace(".000Z", "Z")
}

const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)$/

/** Accepts a `Date`, milliseconds, or RFC 3339 text with an offset. */
export function parseInstant(value: Date | number | string, what = "instant"): Instant {
  const instant = instantOf(value)
  if (instant !== null) return instant
  throw new BelfryError(
    "BELFRY_INSTANT_INVALID",
    `The ${what} ${shown(value)} is not an instant. ${PASS_AN_INSTANT}.`,
    { details: { option: what, value: plain(value) } },
  )
}

export const PASS_AN_INSTANT = 'Pass a Date, or text with an offset such as "2026-03-27T07:00:00Z"'

export function isInstant(value: unknown): value is Instant {
  return Number.isInteger(value) && (value as number) >= EARLIEST && (value as number) <= LATEST
}

/** Null if `value` is not an instant. Minus zero becomes zero. */
export function instantOf(value: unknown): Instant | null {
  const instant = typeof value === "string" ? parseText(value) : toNumber(value)
  return instant >= EARLIEST && instant <= LATEST ? Math.floor(instant) + 0 : null
}

function parseText(text: string): number {
  const match = RFC_3339.exec(text)
  if (!match) return Number.NaN
  const [, year, month, day] = match.map(Number) as [number, number, number, number]
  // `Date` accepts 30 February as 2 March. Day 0 of the next month is the last day of this month.
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
  return day <= lastDay ? Date.parse(text.replace(" ", "T").toUpperCase()) : Number.NaN
}

/** Not `Number(value)`, which turns null into 1970. */
function toNumber(value: unknown): number {
  if (typeof value === "number") return value
  try {
    return value instanceof Date ? value.getTime() : Number.NaN
  } catch {
    // A revoked proxy.
    return Number.NaN
  }
}
