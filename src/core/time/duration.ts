import { BelfryError } from "../errors.ts"
import { plain, shown } from "../values/shown.ts"
import { DAY, HOUR, MINUTE, SECOND } from "./instant.ts"

type Unit = "ms" | "s" | "m" | "h" | "d" | "w"

/** `"90s"`, `"15m"`, `"1h30m"`, ISO 8601 such as `"PT15M"`, or milliseconds. Days are 24 hours. */
export type Duration =
  | number
  | `${number}${Unit}`
  | `${number}${Unit}${number}${Unit}`
  | `${number}${Unit}${number}${Unit}${number}${Unit}`
  | `P${string}`

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY }

/** 1,000 years: longer than any duration that is meant. */
export const DURATION_MAX = 1_000 * 366 * DAY

/** The longest text that is parsed as a duration, in characters. */
const TEXT_MAX = 64

/** Whole milliseconds, not negative. `what` names the option in the error. */
export function parseDuration(value: Duration | string, what = "duration"): number {
  const ms = durationMsOf(value)
  if (ms !== null) return ms
  throw new BelfryError(
    "BELFRY_DURATION_INVALID",
    `The ${what} ${shown(value)} is not a duration. ${WRITE_A_DURATION}.`,
    { details: { option: what, value: plain(value) } },
  )
}

export const WRITE_A_DURATION = 'Write "90s", "15m", "1h30m" or milliseconds'

/** Null if `value` is not a duration. Minus zero becomes zero. */
export function durationMsOf(value: unknown): number | null {
  const ms =
    typeof value === "number"
      ? value
      : typeof value === "string" && value.length <= TEXT_MAX
        ? (parseIso(value) ?? parseUnits(value))
        : undefined
  return ms !== undefined && ms >= 0 && ms <= DURATION_MAX ? Math.round(ms) + 0 : null
}

function parseUnits(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g)]
  if (parts.length === 0 || parts.map((part) => part[0]).join("") !== text) return undefined
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit!]!, 0)
}

function parseIso(text: string): number | undefined {
  const match = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text)
  if (!match || match.slice(1).every((part) => part === undefined)) return undefined
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0))
  return weeks * 7 * DAY + days * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND
}

const UNITS: readonly (readonly [unit: string, size: number])[] = [
  ["d", DAY],
  ["h", HOUR],
  ["m", MINUTE],
  ["s", SECOND],
]

/** `1h 30m`: the two largest units, for messages. */
export function formatDuration(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)}ms`
  const first = UNITS.findIndex(([, size]) => ms >= size)
  return countsOf(ms, UNITS.slice(first, first + 2)).join(" ")
}

/** `1h30m`: exact, in a form that parses to the same duration. */
export function exactDuration(ms: number): string {
  return ms === 0 ? "0ms" : countsOf(ms, [...UNITS, ["ms", 1]]).join("")
}

function countsOf(ms: number, units: typeof UNITS): readonly string[] {
  let rest = ms
  return units.flatMap(([unit, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count === 0 ? [] : [`${count}${unit}`]
  })
}
