/** The six fields of a cron expression: the values each allows, and the values that were parsed. */
export interface FieldSpec {
  readonly name: FieldName
  readonly label: string
  readonly min: number
  readonly max: number
  readonly names: readonly string[]
}

export type FieldName = "second" | "minute" | "hour" | "dayOfMonth" | "month" | "dayOfWeek"

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]

export const FIELDS: readonly FieldSpec[] = [
  { name: "second", label: "Second", min: 0, max: 59, names: [] },
  { name: "minute", label: "Minute", min: 0, max: 59, names: [] },
  { name: "hour", label: "Hour", min: 0, max: 23, names: [] },
  { name: "dayOfMonth", label: "Day of month", min: 1, max: 31, names: [] },
  { name: "month", label: "Month", min: 1, max: 12, names: MONTHS },
  // 0 and 7 are both Sunday, so that `5-7` and `FRI-SUN` can be written.
  { name: "dayOfWeek", label: "Day of week", min: 0, max: 7, names: WEEKDAYS },
]

/** One comma-separated part of a field, parsed. The description and the lints use this, not the text. */
export type Item =
  | { readonly kind: "any" }
  | { readonly kind: "value"; readonly value: number }
  /** `from-to`, `from-to/step`, `from/step` (to the maximum) and `*` with a step. */
  | {
      readonly kind: "range"
      readonly from: number
      readonly to: number
      readonly step: number
      readonly isOpen: boolean
    }
  /** `L`, `L-3`, `LW`: counted back from the end of the month, optionally moved to the nearest weekday. */
  | { readonly kind: "last"; readonly daysBefore: number; readonly nearestWeekday: boolean }
  /** `15W`: the day from Monday to Friday nearest to that day, within the month. */
  | { readonly kind: "nearestWeekday"; readonly day: number }
  /** `FRI#3`: the third Friday; `nth` is null for `FRIL`, the last one. */
  | { readonly kind: "nthWeekday"; readonly weekday: number; readonly nth: number | null }

export interface Field {
  readonly text: string
  readonly items: readonly Item[]
  /** The plain values in order, with `7` as `0`. Days given by `L`, `W` and `#` depend on the month and are not included. */
  readonly values: readonly number[]
  // Only a bare `*` or `?` means any value: `*/2` in a day field restricts it.
  readonly isAny: boolean
}
