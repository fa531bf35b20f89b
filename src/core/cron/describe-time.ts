import type { CalendarCron } from "./cron.ts"
import { clockWords, countOf, joinWords, listValues, shortOrdinal, stepOf } from "./words.ts"

export interface TimeWords {
  readonly words: string
  /** Whether `words` cover all hours of the day. Then "every day" is not added. */
  readonly isRoundTheClock: boolean
}

/** The most times that are listed one by one: `EVEN_TIMES_MAX` if they are evenly spaced, otherwise `TIMES_MAX`. */
const EVEN_TIMES_MAX = 5
const TIMES_MAX = 8

/** The time of day: `At 09:00 and 17:30`, `Every 15 minutes`, `Every hour from 09:00 through 17:00`. */
export function timeWords(cron: CalendarCron, isEveryDay: boolean): TimeWords {
  const gap = evenGap(cron)
  const count = cron.second.values.length * cron.minute.values.length * cron.hour.values.length
  // "Every 12 hours on Monday" would be unclear, so a few times on some days are listed one by one.
  if (gap !== null && fillsTheDay(cron, gap, count) && (isEveryDay || count > EVEN_TIMES_MAX)) {
    return { words: `Every ${gapWords(gap)}`, isRoundTheClock: true }
  }
  if (isInEveryHour(cron)) return { words: fieldWords(cron), isRoundTheClock: true }
  if (count <= (gap === null ? TIMES_MAX : EVEN_TIMES_MAX)) {
    return { words: `At ${joinWords(timesOf(cron).map(clockOf(cron)))}`, isRoundTheClock: false }
  }
  if (gap === null) return { words: fieldWords(cron), isRoundTheClock: false }
  const first = clockOf(cron)(firstTime(cron))
  const last = clockOf(cron)(lastTime(cron))
  return { words: `Every ${gapWords(gap)} from ${first} through ${last}`, isRoundTheClock: false }
}

/**
 * Seconds between neighbouring times of a day, or null if they differ. The finest field with several values sets the gap.
 * The gap holds across the next field only if it divides the finer field evenly and the next field's values are consecutive.
 */
function evenGap({ second, minute, hour }: CalendarCron): number | null {
  let gap: number | null = null
  let isUnbroken = true
  for (const [values, unit, size] of [
    [second.values, 1, 60],
    [minute.values, 60, 60],
    [hour.values, 3600, 24],
  ] as const) {
    if (values.length === 1) {
      isUnbroken &&= gap === null
      continue
    }
    const step = stepOf(values)
    if (step === null || !isUnbroken) return null
    if (gap !== null && step !== 1) return null
    gap ??= step * unit
    isUnbroken = step * values.length === size
  }
  return gap
}

/** Whether "every 15 minutes" is true by itself: from midnight to midnight, and not a fixed-time job, which DST can skip. */
function fillsTheDay(cron: CalendarCron, gap: number, count: number): boolean {
  return !cron.isFixedTime && firstTime(cron) === 0 && gap * count === 86_400
}

function isInEveryHour(cron: CalendarCron): boolean {
  return !cron.isFixedTime && cron.hour.values.length === 24
}

function gapWords(seconds: number): string {
  const [noun, size] =
    seconds % 3600 === 0 ? ["hour", 3600] : seconds % 60 === 0 ? ["minute", 60] : ["second", 1]
  return unitsWords(seconds / Number(size), String(noun))
}

function unitsWords(count: number, noun: string): string {
  return count === 1 ? noun : countOf(count, noun)
}

function timesOf({ second, minute, hour }: CalendarCron): readonly number[] {
  return hour.values.flatMap((h) =>
    minute.values.flatMap((m) => second.values.map((s) => h * 3600 + m * 60 + s)),
  )
}

function firstTime({ second, minute, hour }: CalendarCron): number {
  return hour.values[0]! * 3600 + minute.values[0]! * 60 + second.values[0]!
}

function lastTime({ second, minute, hour }: CalendarCron): number {
  return hour.values.at(-1)! * 3600 + minute.values.at(-1)! * 60 + second.values.at(-1)!
}

function clockOf(cron: CalendarCron): (secondOfDay: number) => string {
  return (secondOfDay) => clockWords(secondOfDay, !isOnTheMinute(cron))
}

function isOnTheMinute({ second }: CalendarCron): boolean {
  return second.values.length === 1 && second.values[0] === 0
}

/** Field by field, for times that are neither few nor evenly spaced: `At minutes 5 and 7 past every hour`. */
function fieldWords(cron: CalendarCron): string {
  const hours = isInEveryHour(cron) ? "every hour" : coarserFieldWords("hour", cron.hour.values)
  if (isOnTheMinute(cron)) return `${finestFieldWords("minute", "past", cron.minute.values)} ${hours}`
  const seconds = finestFieldWords("second", "of", cron.second.values)
  const minutes =
    cron.minute.values.length === 60 ? "every minute" : coarserFieldWords("minute", cron.minute.values)
  return minutes === "every minute" && hours === "every hour"
    ? `${seconds} ${minutes}`
    : `${seconds} ${minutes} of ${hours}`
}

/** Evenly spaced values are described by their step if there are at least this many. */
const STEPPED_MIN = 6

/** The finest field, with the word that connects it to the next: `At minute 5 past`, `Every 7 minutes from … of`. */
function finestFieldWords(unit: "second" | "minute", link: string, values: readonly number[]): string {
  const step = stepOf(values)
  if (step !== null && values[0] === 0 && step * values.length === 60) {
    return `Every ${unitsWords(step, unit)} during`
  }
  if (step !== null && values.length >= STEPPED_MIN) {
    return `Every ${unitsWords(step, unit)} from ${unit} ${values[0]} through ${values.at(-1)} of`
  }
  return `At ${unit}${values.length === 1 ? "" : "s"} ${listValues(values)} ${link}`
}

function coarserFieldWords(unit: "minute" | "hour", values: readonly number[]): string {
  const step = stepOf(values)
  if (step !== null && step > 1 && values.length >= STEPPED_MIN) {
    return `every ${shortOrdinal(step)} ${unit} from ${unit} ${values[0]} through ${values.at(-1)}`
  }
  return `${unit}${values.length === 1 ? "" : "s"} ${listValues(values)}`
}
