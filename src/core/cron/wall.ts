import { DAY, EARLIEST, HOUR, LATEST, MINUTE, SECOND } from "../time/instant.ts"
import type { CalendarCron } from "./cron.ts"
import { daysIn } from "./month-days.ts"

/**
 * The search on the wall clock, without time zones: the first matching wall time at or after a given one, or the last at or
 * before it. Days are bits and times are table lookups, so within a month the cost doesn't depend on the distance, and a
 * month without a match costs one mask.
 */

/** `from` is on a whole second. Returns Infinity if there is no match up to year 9999. */
export function wallAtOrAfter(cron: CalendarCron, from: number): number {
  const dayNumber = Math.floor(from / DAY)
  let { year, month, day } = civilOf(dayNumber)
  const { lookups } = cron
  if (lookups.month.atOrAfter[month] === month) {
    let days = monthDays(cron, year, month)
    if ((days >>> day) & 1) {
      const time = timeAtOrAfter(cron, from - dayNumber * DAY)
      if (time >= 0) return dayNumber * DAY + time
    }
    days &= -2 << day
    if (days !== 0) return dayNumberOf(year, month, lowestBit(days)) * DAY + firstTime(cron)
  }
  day = 0
  while (from <= LATEST) {
    month = lookups.month.atOrAfter[month + 1]!
    if (month < 0) {
      month = lookups.month.first
      year++
      if (year > 9999) break
    }
    const days = monthDays(cron, year, month)
    if (days !== 0) return dayNumberOf(year, month, lowestBit(days)) * DAY + firstTime(cron)
  }
  return Number.POSITIVE_INFINITY
}

/** `from` is on a whole second. Returns -Infinity if there is no match from year 1 on. */
export function wallAtOrBefore(cron: CalendarCron, from: number): number {
  const dayNumber = Math.floor(from / DAY)
  let { year, month, day } = civilOf(dayNumber)
  const { lookups } = cron
  if (lookups.month.atOrAfter[month] === month) {
    let days = monthDays(cron, year, month)
    if ((days >>> day) & 1) {
      const time = timeAtOrBefore(cron, from - dayNumber * DAY)
      if (time >= 0) return dayNumber * DAY + time
    }
    days &= (1 << day) - 1
    if (days !== 0) return dayNumberOf(year, month, highestBit(days)) * DAY + lastTime(cron)
  }
  day = 0
  while (from >= EARLIEST) {
    month = lookups.month.atOrBefore[month - 1]!
    if (month < 1) {
      month = lookups.month.last
      year--
      if (year < 1) break
    }
    const days = monthDays(cron, year, month)
    if (days !== 0) return dayNumberOf(year, month, highestBit(days)) * DAY + lastTime(cron)
  }
  return Number.NEGATIVE_INFINITY
}

function timeAtOrAfter({ lookups }: CalendarCron, time: number): number {
  const hour = Math.floor(time / HOUR)
  const minute = Math.floor(time / MINUTE) % 60
  const second = Math.floor(time / SECOND) % 60

  const sameHour = lookups.hour.atOrAfter[hour]
  if (sameHour === hour) {
    const sameMinute = lookups.minute.atOrAfter[minute]!
    if (sameMinute === minute) {
      const atSecond = lookups.second.atOrAfter[second]!
      if (atSecond >= 0) return timeOf(hour, minute, atSecond)
    }
    const atMinute = lookups.minute.atOrAfter[minute + 1]!
    if (atMinute >= 0) return timeOf(hour, atMinute, lookups.second.first)
  }
  const atHour = lookups.hour.atOrAfter[hour + 1]!
  return atHour < 0 ? -1 : timeOf(atHour, lookups.minute.first, lookups.second.first)
}

function timeAtOrBefore({ lookups }: CalendarCron, time: number): number {
  const hour = Math.floor(time / HOUR)
  const minute = Math.floor(time / MINUTE) % 60
  const second = Math.floor(time / SECOND) % 60

  if (lookups.hour.atOrBefore[hour] === hour) {
    if (lookups.minute.atOrBefore[minute] === minute) {
      const atSecond = lookups.second.atOrBefore[second]!
      if (atSecond >= 0) return timeOf(hour, minute, atSecond)
    }
    const atMinute = minute === 0 ? -1 : lookups.minute.atOrBefore[minute - 1]!
    if (atMinute >= 0) return timeOf(hour, atMinute, lookups.second.last)
  }
  const atHour = hour === 0 ? -1 : lookups.hour.atOrBefore[hour - 1]!
  return atHour < 0 ? -1 : timeOf(atHour, lookups.minute.last, lookups.second.last)
}

function firstTime({ lookups }: CalendarCron): number {
  return timeOf(lookups.hour.first, lookups.minute.first, lookups.second.first)
}

function lastTime({ lookups }: CalendarCron): number {
  return timeOf(lookups.hour.last, lookups.minute.last, lookups.second.last)
}

function timeOf(hour: number, minute: number, second: number): number {
  return hour * HOUR + minute * MINUTE + second * SECOND
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits)
}

function highestBit(bits: number): number {
  return 31 - Math.clz32(bits)
}

const LENGTHS = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function monthDays(cron: CalendarCron, year: number, month: number): number {
  const length = month === 2 && isLeap(year) ? 29 : LENGTHS[month]!
  // Day 0 (1970-01-01) was a Thursday.
  const firstWeekday = (((dayNumberOf(year, month, 1) + 4) % 7) + 7) % 7
  return daysIn(cron, length, firstWeekday)
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** Days since 1970-01-01. Years are counted from March, so that the leap day is the last day of its year. */
function dayNumberOf(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  return (
    365 * shifted +
    Math.floor(shifted / 4) -
    Math.floor(shifted / 100) +
    Math.floor(shifted / 400) +
    dayOfYear -
    719_468
  )
}

const DAYS_IN_ERA = 146_097 // 400 years

function civilOf(dayNumber: number): { year: number; month: number; day: number } {
  const days = dayNumber + 719_468
  const era = Math.floor(days / DAYS_IN_ERA)
  const dayOfEra = days - era * DAYS_IN_ERA
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  return {
    year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  }
}
