/** English phrases for descriptions and lints. */

/** `a`, `a and b`, `a, b and c`. */
export function joinWords(parts: readonly string[], conjunction: "and" | "or" = "and"): string {
  if (parts.length < 2) return parts.join("")
  return `${parts.slice(0, -1).join(", ")} ${conjunction} ${parts[parts.length - 1]}`
}

/** Lists of up to 8 parts are written in full. Of a longer list the first 6 parts are written, and the number of the others. */
const PARTS_MAX = 8
const PARTS_SHOWN = 6

/** Values in order. Three or more neighbours become a range; the end of a long list becomes a number: `and 12 more`. */
export function listValues(values: readonly number[], nameOf: (value: number) => string = String): string {
  const parts = neighboursOf(values)
  if (parts.length <= PARTS_MAX) return joinWords(parts.map((part) => rangeWords(part, nameOf)))
  const shown = parts.slice(0, PARTS_SHOWN)
  const left = values.length - shown.reduce((count, part) => count + part.length, 0)
  return joinWords([...shown.map((part) => rangeWords(part, nameOf)), `${left} more`])
}

/** Splits sorted values into ranges of at least three neighbours and single values. */
export function neighboursOf(values: readonly number[]): readonly (readonly number[])[] {
  const runs: number[][] = []
  for (const value of values) {
    const run = runs[runs.length - 1]
    if (run !== undefined && run[run.length - 1] === value - 1) run.push(value)
    else runs.push([value])
  }
  return runs.flatMap((run) => (run.length >= 3 ? [run] : run.map((value) => [value])))
}

export function rangeWords(range: readonly number[], nameOf: (value: number) => string): string {
  const first = nameOf(range[0]!)
  return range.length === 1 ? first : `${first} through ${nameOf(range[range.length - 1]!)}`
}

/** `1 minute`, `1,440 minutes`. */
export function countOf(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`
}

const ORDINALS = [
  "first",
  "second",
  "third",
  "fourth",
  "fifth",
  "sixth",
  "seventh",
  "eighth",
  "ninth",
  "tenth",
]

/** `third`; above ten `11th`. */
export function ordinal(position: number): string {
  return ORDINALS[position - 1] ?? shortOrdinal(position)
}

/** `3rd`: for minutes and hours, where "every second minute" would be misread. */
export function shortOrdinal(position: number): string {
  const isTeen = position % 100 >= 11 && position % 100 <= 13
  const ending = isTeen ? undefined : ["st", "nd", "rd"][(position % 10) - 1]
  return `${position}${ending ?? "th"}`
}

/** `09:00`, or `09:00:30` with seconds. */
export function clockWords(secondOfDay: number, withSeconds: boolean): string {
  const parts = [Math.floor(secondOfDay / 3600), Math.floor(secondOfDay / 60) % 60]
  if (withSeconds) parts.push(secondOfDay % 60)
  return parts.map((part) => String(part).padStart(2, "0")).join(":")
}

/** The distance between neighbouring values. Null if the distances differ or there is only one value. */
export function stepOf(values: readonly number[]): number | null {
  if (values.length < 2) return null
  const step = values[1]! - values[0]!
  return values.every((value, index) => value === values[0]! + index * step) ? step : null
}
