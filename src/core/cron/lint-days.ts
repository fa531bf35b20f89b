import { DAY, HOUR, type Instant } from "../time/instant.ts"
import type { CalendarCron } from "./cron.ts"
import { monthName } from "./describe-days.ts"
import { expressionWith } from "./expression.ts"
import type { Item } from "./field.ts"
import type { Fix, Lint } from "./lint.ts"
import { nextOccurrence } from "./search.ts"
import { dateWords, wallAt } from "./wall-words.ts"
import { joinWords } from "./words.ts"

/** L02: with both day fields set, some people expect "or" and others "and". */
export function lintDayRule(cron: CalendarCron, now: Instant): Lint | null {
  if (cron.dayOfMonth.isAny || cron.dayOfWeek.isAny) return null
  const days = nextDays(cron, now, 5)
  const next = days.length === 0 ? "" : ` Next: ${joinWords(days)}.`
  const [date, weekday] = [`day of month "${cron.dayOfMonth.text}"`, `day of week "${cron.dayOfWeek.text}"`]
  if (cron.dayMatch === "both") {
    // The author chose this with `+` or an option, so the lint only confirms it.
    return {
      code: "L02",
      severity: "info",
      message: `The cron occurs only on days that match both the ${date} and the ${weekday}.${next}`,
    }
  }
  return {
    code: "L02",
    severity: "warn",
    message: `The cron occurs on each day that matches the ${date} or the ${weekday}, as in POSIX. To require both, put + before the weekday.${next}`,
    fix: { option: "cron", value: expressionWith(cron, { dayOfWeek: `+${cron.dayOfWeek.text}` }) },
  }
}

/** No clock change is longer. A jump that ends this long before midnight never reaches the next day. */
const SHIFT_MAX = 2 * HOUR

/** The next `limit` days with an occurrence, each once. */
function nextDays(cron: CalendarCron, now: Instant, limit: number): readonly string[] {
  const days: string[] = []
  let at = nextOccurrence(cron, now)
  while (at !== null && days.length < limit) {
    const wall = wallAt(cron.zone, at)
    const day = dateWords(wall)
    days.push(day)
    const restOfDay = DAY - (((wall % DAY) + DAY) % DAY)
    at = nextOccurrence(cron, at + Math.max(0, restOfDay - SHIFT_MAX))
    while (at !== null && dateWords(wallAt(cron.zone, at)) === day) at = nextOccurrence(cron, at)
  }
  return days
}

const LONGEST_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** L08: the 29th to 31st, which some months don't have. Only the latest of the days is reported: the most months lack it. */
export function lintMissingDays(cron: CalendarCron): Lint | null {
  const needed = cron.dayOfMonth.items.map(dayNeeded)
  const day = Math.max(...needed)
  const missed = cron.month.values.filter((month) => LONGEST_MONTHS[month - 1]! < day)
  const months = missed.map(monthName)
  if (day === 29 && cron.month.values.includes(2)) months.push("February outside leap years")
  if (months.length === 0) return null
  const fix = lastDayInstead(cron, needed.indexOf(day), day)
  return {
    code: "L08",
    severity: "warn",
    message: `There is no day ${day} in ${joinWords(months)}: nothing runs for it then. L is the last day of any month.`,
    ...(fix === null ? {} : { fix }),
  }
}

/** The earliest day that a month must have for the item to match. 0: the item matches in every month. */
function dayNeeded(item: Item): number {
  if (item.kind === "value") return item.value
  if (item.kind === "range") return item.from
  return item.kind === "nearestWeekday" ? item.day : 0
}

/** Suggested only if the day is the last day of every month that has it. Then `L` adds the other months and changes none. */
function lastDayInstead(cron: CalendarCron, index: number, day: number): Fix | null {
  const item = cron.dayOfMonth.items[index]!
  const isLastWherePresent = cron.month.values.every((month) => LONGEST_MONTHS[month - 1]! <= day)
  if (item.kind === "range" || !isLastWherePresent) return null
  const parts = cron.dayOfMonth.text.split(",")
  parts[index] = item.kind === "nearestWeekday" ? "LW" : "L"
  return { option: "cron", value: expressionWith(cron, { dayOfMonth: parts.join(",") }) }
}
