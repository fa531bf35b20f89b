import { BelfryError, type ErrorCode } from "../errors.ts"
import { hashText } from "../values/hash.ts"
import type { Field, FieldSpec, Item } from "./field.ts"

/** A field of the expression, with the position that an error message needs. */
export interface FieldText {
  readonly spec: FieldSpec
  readonly text: string
  readonly position: number
  /** The field's number in the expression, counted from 1. */
  readonly number: number
  readonly expression: string
  readonly seed: string
}

interface Part {
  readonly field: FieldText
  readonly text: string
  readonly position: number
}

export function parseField(field: FieldText): Field {
  const items: Item[] = []
  let position = field.position
  for (const text of field.text.split(",")) {
    items.push(parseItem({ field, text, position }))
    position += text.length + 1
  }
  return {
    text: field.text,
    items,
    values: valuesOf(items, field.spec),
    isAny: items.length === 1 && items[0]!.kind === "any",
  }
}

function valuesOf(items: readonly Item[], spec: FieldSpec): readonly number[] {
  const values = new Set<number>()
  const isDayOfWeek = spec.name === "dayOfWeek"
  const add = (value: number) => values.add(isDayOfWeek && value === 7 ? 0 : value)
  for (const item of items) {
    if (item.kind === "any") for (let value = spec.min; value <= spec.max; value++) add(value)
    if (item.kind === "value") add(item.value)
    if (item.kind === "range") for (let value = item.from; value <= item.to; value += item.step) add(value)
  }
  return [...values].sort((a, b) => a - b)
}

function parseItem(part: Part): Item {
  const { spec } = part.field
  if (part.text === "") throw syntaxError(part, "is empty: a list has a value on both sides of each comma")
  if (part.text === "*" || (part.text === "?" && isDayField(spec))) return { kind: "any" }
  const special =
    spec.name === "dayOfMonth"
      ? dayOfMonthSpecial(part)
      : spec.name === "dayOfWeek"
        ? weekdaySpecial(part)
        : null
  return special ?? hashed(part) ?? rangeOrValue(part)
}

function isDayField(spec: FieldSpec): boolean {
  return spec.name === "dayOfMonth" || spec.name === "dayOfWeek"
}

function dayOfMonthSpecial(part: Part): Item | null {
  const last = /^L(?:-(\d{1,9}))?(W)?$/i.exec(part.text)
  if (last) {
    const daysBefore = last[1] === undefined ? 0 : inRange(part, last[1], 1, 30)
    return { kind: "last", daysBefore, nearestWeekday: last[2] !== undefined }
  }
  const nearest = /^(\d{1,9})W$/i.exec(part.text)
  return nearest ? { kind: "nearestWeekday", day: inRange(part, nearest[1]!, 1, 31) } : null
}

function weekdaySpecial(part: Part): Item | null {
  const nth = /^([A-Z]{3}|\d{1,9})#(\d{1,9}|L)$/i.exec(part.text)
  if (nth) {
    const weekday = parseValue(part, nth[1]!) % 7
    if (nth[2]!.toUpperCase() === "L") return { kind: "nthWeekday", weekday, nth: null }
    return { kind: "nthWeekday", weekday, nth: inRange(part, nth[2]!, 1, 5) }
  }
  const last = /^([A-Z]{3}|\d{1,9})L$/i.exec(part.text)
  return last ? { kind: "nthWeekday", weekday: parseValue(part, last[1]!) % 7, nth: null } : null
}

/** `H`, `H/15`, `H(0-29)`, `H(0-29)/10`: the seed chooses a value, or the start of a step. */
function hashed(part: Part): Item | null {
  const match = /^H(?:\((\w{1,9})-(\w{1,9})\))?(?:\/(\d{1,9}))?$/i.exec(part.text)
  if (!match) return null
  const { spec, seed } = part.field
  const [from, to] = match[1] === undefined ? hashRange(spec) : parseRange(part, match[1], match[2]!)
  const step = match[3] === undefined ? null : parseStep(part, match[3])
  const choices = step === null ? to - from + 1 : Math.min(step, to - from + 1)
  const start = from + (hashText(`${seed}\u0000${spec.name}`) % choices)
  return step === null
    ? { kind: "value", value: start }
    : { kind: "range", from: start, to, step, isOpen: false }
}

/** Days end at 28, which every month has, and weekdays at 6, so that Sunday (0 and 7) isn't twice as likely. */
function hashRange(spec: FieldSpec): [number, number] {
  if (spec.name === "dayOfMonth") return [1, 28]
  return [spec.min, lastOf(spec)]
}

function rangeOrValue(part: Part): Item {
  const { spec } = part.field
  const [base, stepText, ...moreSteps] = part.text.split("/") as [string, ...string[]]
  if (moreSteps.length > 0) throw syntaxError(part, "has more than one step")
  const step = stepText === undefined ? 1 : parseStep(part, stepText)
  if (base === "*") {
    return { kind: "range", from: spec.min, to: lastOf(spec), step, isOpen: true }
  }
  const [fromText, toText, ...more] = base.split("-") as [string, ...string[]]
  if (more.length > 0) throw syntaxError(part, "is not a range: write one value, a dash and another value")
  if (toText !== undefined) {
    const [from, to] = parseRange(part, fromText, toText)
    return { kind: "range", from, to, step, isOpen: false }
  }
  const value = parseValue(part, fromText)
  return stepText === undefined
    ? { kind: "value", value }
    : { kind: "range", from: value, to: Math.max(value, lastOf(spec)), step, isOpen: true }
}

/** The last value of a step. For weekdays it is Saturday, because Sunday would otherwise match as 0 and again as 7. */
function lastOf(spec: FieldSpec): number {
  return spec.name === "dayOfWeek" ? 6 : spec.max
}

function parseRange(part: Part, fromText: string, toText: string): [number, number] {
  const from = parseValue(part, fromText)
  let to = parseValue(part, toText)
  // FRI-SUN ends on the Sunday after that Friday, which is 7.
  if (from > 0 && toText.toUpperCase() === "SUN") to = 7
  if (from > to)
    throw syntaxError(part, `is reversed: ${from} is after ${to}. Write two ranges with a comma between them`)
  return [from, to]
}

/** A step longer than the field matches only the first value, as in other crons. Lint L01 warns that it is no interval. */
function parseStep(part: Part, text: string): number {
  if (!/^\d+$/.test(text)) throw syntaxError(part, "has a step that isn't a number")
  const step = Number(text)
  if (step >= 1 && step <= STEP_MAX) return step
  const range = { min: 1, max: STEP_MAX }
  throw fieldError(
    "BELFRY_CRON_FIELD_RANGE",
    part,
    `has a step of ${text.slice(0, 20)}, which is out of range 1-${STEP_MAX}`,
    range,
  )
}

const STEP_MAX = 9_999

function parseValue(part: Part, text: string): number {
  const { spec } = part.field
  if (/^\d+$/.test(text)) return inRange(part, text, spec.min, spec.max)
  // Only ASCII letters are accepted: `toUpperCase` turns the long s (U+017F) into "S".
  const index = /^[a-z]{3}$/i.test(text) ? spec.names.indexOf(text.toUpperCase()) : -1
  if (index >= 0) return spec.min + index
  const names =
    spec.names.length > 0 ? ` or a name ${spec.names[0]}-${spec.names[spec.names.length - 1]}` : ""
  throw syntaxError(part, `is not valid: expected ${spec.min}-${spec.max}${names}`)
}

function inRange(part: Part, text: string, min: number, max: number): number {
  const value = Number(text)
  if (value >= min && value <= max) return value
  throw fieldError("BELFRY_CRON_FIELD_RANGE", part, `is out of range ${min}-${max}`, { min, max })
}

function syntaxError(part: Part, problem: string): BelfryError {
  const { min, max } = part.field.spec
  return fieldError("BELFRY_CRON_SYNTAX", part, problem, { min, max })
}

function fieldError(
  code: ErrorCode,
  part: Part,
  problem: string,
  range: { min: number; max: number },
): BelfryError {
  const { spec, number, expression } = part.field
  return new BelfryError(
    code,
    `${spec.label} ${JSON.stringify(part.text)} ${problem}, in ${JSON.stringify(expression)} (field ${number}, position ${part.position}).`,
    { details: { field: spec.name, value: part.text, ...range, position: part.position, expression } },
  )
}
