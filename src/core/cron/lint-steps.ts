import type { CalendarCron } from "./cron.ts"
import { FIELDS, type Field, type FieldSpec } from "./field.ts"
import type { Fix, Lint } from "./lint.ts"
import { countOf } from "./words.ts"

/** For each field: the name of a value, the period after which the field starts again, and the unit of a gap. */
const FIELD_WORDS = {
  second: { value: "second", whole: "minute", unit: "second" },
  minute: { value: "minute", whole: "hour", unit: "minute" },
  hour: { value: "hour", whole: "day", unit: "hour" },
  dayOfMonth: { value: "day", whole: "month", unit: "day" },
  month: { value: "month", whole: "year", unit: "month" },
  dayOfWeek: { value: "weekday", whole: "week", unit: "day" },
} as const

/** L01: a step of 7 minutes reads as "every 7 minutes", but the field starts again at every full hour. */
export function lintSteps(cron: CalendarCron): Lint[] {
  return FIELDS.flatMap((spec) => {
    const uneven = unevenRestart(cron[spec.name], spec)
    if (uneven === null) return []
    const { value, whole, unit } = FIELD_WORDS[spec.name]
    const { first, last, gap, step } = uneven
    const fix = intervalInstead(cron, spec, step)
    return [
      {
        code: "L01",
        severity: "warn",
        message:
          `${spec.label} "${cron[spec.name].text}" starts again each ${whole}: from ${value} ${last} to ${value} ${first} ` +
          `it is ${countOf(gap, unit)}${spec.name === "dayOfMonth" ? " in a month of 31 days" : ""}, not ${step}.`,
        ...(fix === null ? {} : { fix }),
      } satisfies Lint,
    ]
  })
}

interface UnevenRestart {
  readonly first: number
  readonly last: number
  readonly gap: number
  readonly step: number
}

/** A step that reaches the end of its field and doesn't divide it evenly. `9-17/3` ends earlier, as its author wrote. */
function unevenRestart(field: Field, spec: FieldSpec): UnevenRestart | null {
  const item = field.items[0]!
  if (field.items.length > 1 || item.kind !== "range" || item.step === 1) return null
  const size = spec.name === "dayOfWeek" ? 7 : spec.max - spec.min + 1
  const reachesEnd = item.to >= spec.min + size - 1
  if (!reachesEnd || item.from - spec.min >= item.step) return null
  const last = item.from + Math.floor((item.to - item.from) / item.step) * item.step
  const gap = item.from + size - last
  return gap === item.step || gap <= 0 ? null : { first: item.from, last, gap, step: item.step }
}

/** Only if no other field restricts the times, and not for days: the time of day of a 48-hour interval changes with DST. */
function intervalInstead(cron: CalendarCron, spec: FieldSpec, step: number): Fix | null {
  const { second, minute, hour, dayOfMonth, month, dayOfWeek } = cron
  if (![dayOfMonth, month, dayOfWeek].every((field) => field.isAny)) return null
  if (spec.name === "second" && minute.isAny && hour.isAny) return { option: "every", value: `${step}s` }
  if (second.values.length > 1) return null
  if (spec.name === "minute" && hour.isAny) return { option: "every", value: `${step}m` }
  if (spec.name === "hour" && minute.values.length === 1) return { option: "every", value: `${step}h` }
  return null
}
