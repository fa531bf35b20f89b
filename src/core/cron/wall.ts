import { DAY, EARLIEST, HOUR, LATEST, MINUTE, SECOND } from "../instant.ts"
import type { CalendarCron } from "./cron.ts"
import { daysIn } from "./month-days.ts"

/**
 * The search on the wall clock, where no zone exists: the first (or last) matching wall time at or after (or before) a
 * given one. Days come as bits and times as ladder lookups, so the cost doesn't depend on how far away the answer is
 * within a month, and a month without a match costs one mask.
 */

/** At or after `from`, which is on a whole second; Infinity past year 9999. */
export function wallAtOrAfter(cron: CalendarCron, from: number): number {
  const dayNumber = Math.floor(from / DAY)
  let { year, month, day } = civilOf(dayNumber)
  const { ladders } = cron
  if (ladders.month.atOrAfter[month] === month) {
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
    month = ladders.month.atOrAfter[month + 1]!
    if (month < 0) {
      month = ladders.month.first
      year++
      if (year > 9999) break
    }
    const days = monthDays(cron, year, month)
    if (days !== 0) return dayNumberOf(year, month, lowestBit(days)) * DAY + firstTime(cron)
  }
  return Number.POSITIVE_INFINITY
}

/** At or before `from`, which is on a whole second; -Infinity before year 1. */
export function wallAtOrBefore(cron: CalendarCron, from: number): number {
  const dayNumber = Math.floor(from / DAY)
  let { year, month, day } = civilOf(dayNumber)
  const { ladders } = cron
  if (ladders.month.atOrAfter[month] === month) {
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
    month = ladders.month.atOrBefore[month - 1]!
    if (month < 1) {
      month = ladders.month.last
      year--
      if (year < 1) break
    }
    const days = monthDays(cron, year, month)
    if (days !== 0) return dayNumberOf(year, month, highestBit(days)) * DAY + lastTime(cron)
  }
  return Number.NEGATIVE_INFINITY
}

function timeAtOrAfter({ ladders }: CalendarCron, time: number): number {
  const hour = Math.floor(time / HOUR)
  const minute = Math.floor(time / MINUTE) % 60
  const second = Math.floor(time / SECOND) % 60

  const sameHour = ladders.hour.atOrAfter[hour]
  if (sameHour === hour) {
    const sameMinute = ladders.minute.atOrAfter[minute]!
    if (sameMinute === minute) {
      const atSecond = ladders.second.atOrAfter[second]!
      if (atSecond >= 0) return timeOf(hour, minute, atSecond)
    }
    const atMinute = ladders.minute.atOrAfter[minute + 1]!
    if (atMinute >= 0) return timeOf(hour, atMinute, ladders.second.first)
  }
  const atHour = ladders.hour.atOrAfter[hour + 1]!
  return atHour < 0 ? -1 : timeOf(atHour, ladders.minute.first, ladders.second.first)
}

function timeAtOrBefore({ ladders }: CalendarCron, time: number): number {
  const hour = Math.floor(time / HOUR)
  const minute = Math.floor(time / MINUTE) % 60
  const second = Math.floor(time / SECOND) % 60

  if (ladders.hour.atOrBefore[hour] === hour) {
    if (ladders.minute.atOrBefore[minute] === minute) {
      const atSecond = ladders.second.atOrBefore[second]!
      if (atSecond >= 0) return timeOf(hour, minute, atSecond)
    }
    const atMinute = minute === 0 ? -1 : ladders.minute.atOrBefore[minute - 1]!
    if (atMinute >= 0) return timeOf(hour, atMinute, ladders.second.last)
  }
  const atHour = hour === 0 ? -1 : ladders.hour.atOrBefore[hour - 1]!
  return atHour < 0 ? -1 : timeOf(atHour, ladders.minute.last, ladders.second.last)
}

function firstTime({ ladders }: CalendarCron): number {
  return timeOf(ladders.hour.first, ladders.minute.first, ladders.second.first)
}

function lastTime({ ladders }: CalendarCron): number {
  return timeOf(ladders.hour.last, ladders.minute.last, ladders.second.last)
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

/** Days since 1970-01-01. Years are counted from March, so that the leap day is the last of its year. */
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
