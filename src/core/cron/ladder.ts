import type { Field } from "./field.ts"
import { weekdaysByFirst } from "./month-days.ts"

/**
 * What the search reads instead of the fields: "the first allowed value at or after n" and "the last at or before n" as
 * one array lookup each, and days as bits.
 */
export interface Ladders {
  readonly second: Ladder
  readonly minute: Ladder
  readonly hour: Ladder
  readonly month: Ladder
  /** Bit d is day d of the month. */
  readonly daysOfMonth: number
  /** For each weekday the month may begin with: bit d is day d of the month, when its weekday is allowed. */
  readonly daysByFirstWeekday: readonly number[]
}

export interface Ladder {
  readonly first: number
  readonly last: number
  /** -1 where there is none. */
  readonly atOrAfter: Int8Array
  readonly atOrBefore: Int8Array
}

export function laddersOf(fields: {
  second: Field
  minute: Field
  hour: Field
  dayOfMonth: Field
  month: Field
  dayOfWeek: Field
}): Ladders {
  return {
    second: ladderOf(fields.second.values),
    minute: ladderOf(fields.minute.values),
    hour: ladderOf(fields.hour.values),
    month: ladderOf(fields.month.values),
    daysOfMonth: fields.dayOfMonth.values.reduce((bits, day) => bits | (1 << day), 0),
    daysByFirstWeekday: weekdaysByFirst(fields.dayOfWeek.values),
  }
}

/** Values stay below 60; index 60 is there because the search asks for "one later than the last". */
const RUNGS = 61

function ladderOf(values: readonly number[]): Ladder {
  const atOrAfter = new Int8Array(RUNGS).fill(-1)
  const atOrBefore = new Int8Array(RUNGS).fill(-1)
  for (const value of values.toReversed()) atOrAfter.fill(value, 0, value + 1)
  for (const value of values) atOrBefore.fill(value, value)
  return { first: values[0]!, last: values[values.length - 1]!, atOrAfter, atOrBefore }
}
