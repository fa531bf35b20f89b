import { BelfryError } from "../errors.ts"
import { type Duration, parseDuration } from "../time/duration.ts"
import { SECOND } from "../time/instant.ts"
import { zoneNamed } from "../time/zone.ts"
import { shown } from "../values/shown.ts"
import type { CalendarCron, Cron, CronOptions, DstPolicy } from "./cron.ts"
import { FIELDS, type Field } from "./field.ts"
import { lookupsOf } from "./field-lookup.ts"
import { daysIn } from "./month-days.ts"
import { parseField } from "./parse-field.ts"

export const DEFAULT_DST: DstPolicy = { gap: "after", overlap: "first" }

/** Long enough for any list that a person writes. Short enough that parsing takes only microseconds. */
export const EXPRESSION_MAX = 256

const DESCRIPTORS: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
}

/** Parses an expression. Errors name the problem and its position. An expression that can never match is refused. */
export function parseCron(expression: string, options: CronOptions = {}): Cron {
  if (typeof expression !== "string") throw syntaxError(shown(expression), "is not text")
  if (expression.length > EXPRESSION_MAX) {
    throw syntaxError(
      `${expression.slice(0, 40)}…`,
      `has ${expression.length} characters; at most ${EXPRESSION_MAX} are allowed`,
    )
  }
  const trimmed = expression.trim()
  if (/^@every(\s|$)/i.test(trimmed)) return parseEvery(expression, trimmed, options)
  if (!trimmed.startsWith("@")) return parseCalendar(expression, expression, options)
  // Only ASCII letters are accepted: `toLowerCase` turns the Kelvin sign (U+212A) into "k".
  const fields = /^@[a-z]+$/i.test(trimmed) ? DESCRIPTORS[trimmed.toLowerCase()] : undefined
  if (fields !== undefined) return parseCalendar(fields, expression, options)
  const known = `${Object.keys(DESCRIPTORS).join(", ")} and @every`
  throw syntaxError(expression, `is not a descriptor. Known descriptors: ${known}`)
}

function parseEvery(expression: string, trimmed: string, options: CronOptions): Cron {
  const everyMs = parseDuration(trimmed.slice("@every".length).trim() as Duration, "@every interval")
  if (everyMs < SECOND) throw syntaxError(expression, "is shorter than a second")
  return { kind: "interval", expression, everyMs, anchor: options.anchor ?? null }
}

function parseCalendar(text: string, expression: string, options: CronOptions): CalendarCron {
  const words = [...text.matchAll(/[^ \t\r\n]+/g)]
  if (words.length !== 5 && words.length !== 6) {
    const count = words.length === 1 ? "1 field" : `${words.length} fields`
    throw new BelfryError(
      "BELFRY_CRON_FIELD_COUNT",
      `${JSON.stringify(expression)} has ${count}; expected 5 (minute hour day month weekday), or 6 with seconds first.`,
      { details: { expression, count: words.length } },
    )
  }
  const hasSeconds = words.length === 6
  const fields = words.map((word, index) =>
    parseField({
      spec: FIELDS[hasSeconds ? index : index + 1]!,
      ...withoutPlus(word[0], word.index, index === words.length - 1),
      number: index + 1,
      expression,
      seed: options.seed ?? "",
    }),
  )
  const cron = assemble(hasSeconds ? fields : [ON_THE_MINUTE, ...fields], {
    expression,
    hasSeconds,
    wantsBoth: options.dayMatch === "both" || words[words.length - 1]![0].startsWith("+"),
    options,
  })
  if (!canMatch(cron)) throw neverMatches(cron)
  return cron
}

/** A `+` before the weekday means that both day fields must match. It is not part of the field's text. */
function withoutPlus(text: string, position: number, isWeekday: boolean): { text: string; position: number } {
  return isWeekday && text.startsWith("+")
    ? { text: text.slice(1), position: position + 1 }
    : { text, position }
}

const ON_THE_MINUTE: Field = { text: "0", items: [{ kind: "value", value: 0 }], values: [0], isAny: false }

function assemble(
  fields: readonly Field[],
  about: { expression: string; hasSeconds: boolean; wantsBoth: boolean; options: CronOptions },
): CalendarCron {
  const [second, minute, hour, dayOfMonth, month, dayOfWeek] = fields as [
    Field,
    Field,
    Field,
    Field,
    Field,
    Field,
  ]
  const named = { second, minute, hour, dayOfMonth, month, dayOfWeek }
  return {
    kind: "calendar",
    expression: about.expression,
    zone: zoneNamed(about.options.timezone ?? "UTC"),
    dst: { ...DEFAULT_DST, ...about.options.dst },
    dayMatch: about.wantsBoth ? "both" : "either",
    hasSeconds: about.hasSeconds,
    isFixedTime: !minute.text.startsWith("*") && !hour.text.startsWith("*"),
    ...named,
    lookups: lookupsOf(named),
  }
}

/** February has both lengths: its last day is a fourth Friday (`L 2 +FRI#4`) only without a 29th. */
const LENGTHS = [[31], [28, 29], [31], [30], [31], [30], [31], [31], [30], [31], [30], [31]]

/**
 * In 400 years every month begins with every weekday, in leap years too. If no combination of length and first weekday
 * has a matching day, no year has one.
 */
function canMatch(cron: CalendarCron): boolean {
  return cron.month.values.some((month) =>
    LENGTHS[month - 1]!.some((length) =>
      [0, 1, 2, 3, 4, 5, 6].some((firstWeekday) => daysIn(cron, length, firstWeekday) !== 0),
    ),
  )
}

function neverMatches(cron: CalendarCron): BelfryError {
  return new BelfryError(
    "BELFRY_CRON_NEVER",
    `${JSON.stringify(cron.expression)} never matches: no month of "${cron.month.text}" has a day "${cron.dayOfMonth.text}"` +
      `${cron.dayOfWeek.isAny ? "" : ` that is also "${cron.dayOfWeek.text}"`}.`,
    { details: { expression: cron.expression } },
  )
}

function syntaxError(expression: string, problem: string): BelfryError {
  return new BelfryError("BELFRY_CRON_SYNTAX", `${JSON.stringify(expression)} ${problem}.`, {
    details: { expression, position: 0 },
  })
}
