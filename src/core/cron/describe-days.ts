import type { CalendarCron } from "./cron.ts"
import type { Field, Item } from "./field.ts"
import { joinWords, listValues, neighboursOf, ordinal, rangeWords, stepOf } from "./words.ts"

export interface DayWords {
  /** Empty if every day matches. */
  readonly words: string
  /** Whether `words` already name the months: `on day 1 of January`. */
  readonly namesMonths: boolean
  /** Whether `words` are two rules joined by "or". */
  readonly isChoice: boolean
}

const EVERY_DAY: DayWords = { words: "", namesMonths: false, isChoice: false }

/** The days in words: `on Monday`, `on the last day of the month`, `on day 1 of the month or on Monday`. */
export function dayWords(cron: CalendarCron, months: string): DayWords {
  const { date, weekday } = dayRules(cron)
  const ofMonth = months === "" ? "of the month" : `of ${months}`
  if (date !== null && weekday !== null) {
    return cron.dayMatch === "both"
      ? {
          words: `on ${dateWords(date, ofMonth)} if it is also ${alsoWords(weekday)}`,
          namesMonths: true,
          isChoice: false,
        }
      : {
          words: `on ${dateWords(date, "of the month")} or on ${weekdayWords(weekday, "of the month")}`,
          namesMonths: false,
          isChoice: true,
        }
  }
  if (date !== null) return { words: `on ${dateWords(date, ofMonth)}`, namesMonths: true, isChoice: false }
  if (weekday === null) return EVERY_DAY
  return weekday.values.length === 0
    ? { words: `on ${weekdayWords(weekday, ofMonth)}`, namesMonths: true, isChoice: false }
    : { words: `on ${weekdayWords(weekday, "of the month")}`, namesMonths: false, isChoice: false }
}

/**
 * The day fields that exclude any day. A field such as `1-31` is set but excludes none: with `either`, every day then matches.
 */
function dayRules({ dayOfMonth, dayOfWeek, dayMatch }: CalendarCron): {
  date: Field | null
  weekday: Field | null
} {
  const isDateWide = dayOfMonth.values.length === 31
  const isWeekdayWide = dayOfWeek.values.length === 7
  const areBothSet = !dayOfMonth.isAny && !dayOfWeek.isAny
  if (areBothSet && dayMatch === "either" && (isDateWide || isWeekdayWide))
    return { date: null, weekday: null }
  return { date: isDateWide ? null : dayOfMonth, weekday: isWeekdayWide ? null : dayOfWeek }
}

/** Evenly spaced days are described by their step if there are at least this many. */
const STEPPED_MIN = 6

function dateWords(field: Field, ofMonth: string): string {
  const { values } = field
  const specials = field.items.map(specialDateWords).filter((words) => words !== null)
  const step = values.length >= STEPPED_MIN ? stepOf(values) : null
  if (step !== null && step > 1) {
    const start = `from day ${values[0]}${values.at(-1)! + step > 31 ? "" : ` through ${values.at(-1)}`}`
    return specials.length === 0
      ? `every ${ordinal(step)} day ${ofMonth} ${start}`
      : `${joinWords([`every ${ordinal(step)} day ${start}`, ...specials])} ${ofMonth}`
  }
  if (specials.length === 0) return `day${values.length === 1 ? "" : "s"} ${listValues(values)} ${ofMonth}`
  return `${joinWords([...plainDates(values), ...specials])} ${ofMonth}`
}

/** In a list with `L` or `W`, up to four days or ranges are named one by one: `day 1, day 15 and the last day`. */
function plainDates(values: readonly number[]): readonly string[] {
  const runs = neighboursOf(values)
  if (runs.length > 4) return [`days ${listValues(values)}`]
  return runs.map((run) => `day${run.length === 1 ? "" : "s"} ${rangeWords(run, String)}`)
}

function specialDateWords(item: Item): string | null {
  if (item.kind === "nearestWeekday") return `the weekday nearest day ${item.day}`
  if (item.kind !== "last") return null
  if (item.daysBefore === 0) return item.nearestWeekday ? "the last weekday" : "the last day"
  const day =
    item.daysBefore === 1
      ? "the day before the last day"
      : `the ${ordinal(item.daysBefore)} day before the last day`
  return item.nearestWeekday ? `the weekday nearest ${day}` : day
}

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

function weekdayName(weekday: number): string {
  return WEEKDAYS[weekday % 7]!
}

function weekdayWords(field: Field, ofMonth: string): string {
  const specials = field.items.map(specialWeekdayWords).filter((words) => words !== null)
  const plain = weekdayRuns(field.values).map((run) => rangeWords(run, weekdayName))
  return joinWords([...plain, ...specials]) + (specials.length === 0 ? "" : ` ${ofMonth}`)
}

/** The words after "if it is also": `a Monday`, `a Monday or a Friday`, `a day from Monday through Friday`. */
function alsoWords(field: Field): string {
  const plain = weekdayRuns(field.values).map((run) =>
    run.length === 1 ? `a ${weekdayName(run[0]!)}` : `a day from ${rangeWords(run, weekdayName)}`,
  )
  const specials = field.items.map(specialWeekdayWords).filter((words) => words !== null)
  return joinWords([...plain, ...specials.map((words) => `${words} of the month`)], "or")
}

function specialWeekdayWords(item: Item): string | null {
  if (item.kind !== "nthWeekday") return null
  return `the ${item.nth === null ? "last" : ordinal(item.nth)} ${weekdayName(item.weekday)}`
}

/** Weeks are described from Monday, unless starting on another day gives a single range: Sunday through Thursday. */
function weekdayRuns(values: readonly number[]): readonly (readonly number[])[] {
  const fromMonday = values.includes(0) ? [...values.filter((value) => value !== 0), 7] : values
  const wrapped = wrappedRun(fromMonday)
  return wrapped === null ? neighboursOf(fromMonday) : [wrapped]
}

/** `SAT-SUN,MON` is one range across the end of the week: 6, 7, 8. */
function wrappedRun(fromMonday: readonly number[]): readonly number[] | null {
  const gapAt = fromMonday.findIndex((value, index) => index > 0 && value !== fromMonday[index - 1]! + 1)
  if (gapAt < 0) return null
  const wrapped = [...fromMonday.slice(gapAt), ...fromMonday.slice(0, gapAt).map((value) => value + 7)]
  return neighboursOf(wrapped).length === 1 ? wrapped : null
}

const MONTHS = "January February March April May June July August September October November December".split(
  " ",
)

/** `January and July`. Empty if every month matches. */
export function monthWords({ month }: CalendarCron): string {
  return month.values.length === 12 ? "" : listValues(month.values, monthName)
}

/** 1 is January. */
export function monthName(month: number): string {
  return MONTHS[month - 1]!
}
