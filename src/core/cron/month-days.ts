import type { CalendarCron } from "./cron.ts"
import type { Item } from "./field.ts"

/** All that day rules depend on: the length of a month and the weekday it begins with. */
export interface MonthShape {
  readonly length: number
  /** 0 is Sunday. */
  readonly firstWeekday: number
}

/** The days that the expression allows in a month of this length and first weekday: bit d is day d. */
export function daysIn(cron: CalendarCron, length: number, firstWeekday: number): number {
  const inMonth = (2 << length) - 2
  const { dayOfMonth, dayOfWeek, lookups } = cron
  if (dayOfWeek.isAny && dayOfMonth.isAny) return inMonth
  const shape = { length, firstWeekday }
  const byDate = dayOfMonth.isAny ? inMonth : lookups.daysOfMonth | specialDays(dayOfMonth.items, shape)
  if (dayOfWeek.isAny) return byDate & inMonth
  const byWeekday = lookups.daysByFirstWeekday[firstWeekday]! | specialDays(dayOfWeek.items, shape)
  if (dayOfMonth.isAny) return byWeekday & inMonth
  return (cron.dayMatch === "both" ? byDate & byWeekday : byDate | byWeekday) & inMonth
}

/** The days of a month with an allowed weekday, as bits, for each weekday that the month may begin with. */
export function weekdaysByFirst(weekdays: readonly number[]): readonly number[] {
  return [0, 1, 2, 3, 4, 5, 6].map((firstWeekday) => {
    let bits = 0
    for (const weekday of weekdays) {
      for (let day = 1 + ((weekday - firstWeekday + 7) % 7); day <= 31; day += 7) bits |= 1 << day
    }
    return bits
  })
}

function specialDays(items: readonly Item[], month: MonthShape): number {
  let bits = 0
  for (const item of items) {
    const day = specialDay(item, month)
    if (day !== null) bits |= 1 << day
  }
  return bits
}

/** The day that an `L`, `W` or `#` means in this month, or null if the month has none (a fifth Friday, a 31W in June). */
function specialDay(item: Item, month: MonthShape): number | null {
  switch (item.kind) {
    case "last": {
      const day = month.length - item.daysBefore
      if (day < 1) return null
      return item.nearestWeekday ? nearestWeekday(day, month) : day
    }
    case "nearestWeekday":
      return item.day > month.length ? null : nearestWeekday(item.day, month)
    case "nthWeekday": {
      const firstMatch = 1 + ((item.weekday - month.firstWeekday + 7) % 7)
      if (item.nth === null) return firstMatch + 7 * Math.floor((month.length - firstMatch) / 7)
      const day = firstMatch + 7 * (item.nth - 1)
      return day > month.length ? null : day
    }
    default:
      return null
  }
}

/** Stays within the month: if the 1st is a Saturday, Monday the 3rd; if the last day is a Sunday, the Friday before. */
function nearestWeekday(day: number, month: MonthShape): number {
  const weekday = (month.firstWeekday + day - 1) % 7
  if (weekday === 6) return day > 1 ? day - 1 : day + 2
  if (weekday === 0) return day < month.length ? day + 1 : day - 2
  return day
}
