import type { Field } from "./field.ts"
import { weekdaysByFirst } from "./month-days.ts"

/**
 * The fields in the form that the search uses: "the first allowed value at or after n" and "the last allowed value at or
 * before n" are one array lookup each, and days are bits.
 */
export interface FieldLookups {
  readonly second: FieldLookup
  readonly minute: FieldLookup
  readonly hour: FieldLookup
  readonly month: FieldLookup
  /** Bit d is day d of the month. */
  readonly daysOfMonth: number
  /** Indexed by the weekday that the month begins with. Bit d is set if the weekday of day d is allowed. */
  readonly daysByFirstWeekday: readonly number[]
}

export interface FieldLookup {
  readonly first: number
  readonly last: number
  /** -1 if there is no such value. */
  readonly atOrAfter: Int8Array
  readonly atOrBefore: Int8Array
}

export function lookupsOf(fields: {
  second: Field
  minute: Field
  hour: Field
  dayOfMonth: Field
  month: Field
  dayOfWeek: Field
}): FieldLookups {
  return {
    second: lookupOf(fields.second.values),
    minute: lookupOf(fields.minute.values),
    hour: lookupOf(fields.hour.values),
    month: lookupOf(fields.month.values),
    daysOfMonth: fields.dayOfMonth.values.reduce((bits, day) => bits | (1 << day), 0),
    daysByFirstWeekday: weekdaysByFirst(fields.dayOfWeek.values),
  }
}

/** Values are below 60. Index 60 exists because the search looks up the value after the last one. */
const LOOKUP_SIZE = 61

function lookupOf(values: readonly number[]): FieldLookup {
  const atOrAfter = new Int8Array(LOOKUP_SIZE).fill(-1)
  const atOrBefore = new Int8Array(LOOKUP_SIZE).fill(-1)
  for (const value of values.toReversed()) atOrAfter.fill(value, 0, value + 1)
  for (const value of values) atOrBefore.fill(value, value)
  return { first: values[0]!, last: values[values.length - 1]!, atOrAfter, atOrBefore }
}
