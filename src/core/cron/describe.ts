import { DAY, HOUR, MINUTE, SECOND } from "../time/instant.ts"
import type { Cron } from "./cron.ts"
import { dayWords, monthWords } from "./describe-days.ts"
import { timeWords } from "./describe-time.ts"
import { countOf, joinWords } from "./words.ts"

/**
 * The expression in English, in its own time zone: `At 09:00 on Monday`. It is made from the values that the search uses,
 * not from the text, so the description always agrees with the occurrences.
 */
export function describeCron(cron: Cron): string {
  if (cron.kind === "interval") return `Every ${intervalWords(cron.everyMs)}`
  const months = monthWords(cron)
  const days = dayWords(cron, months)
  const time = timeWords(cron, days.words === "")
  const everyDay = time.isRoundTheClock ? "" : "every day"
  const inMonths = months === "" || days.namesMonths ? "" : `in ${months}`
  // Without the comma, "on day 1 of the month or on Monday in January" reads as if day 1 matched in every month.
  const comma = inMonths !== "" && days.isChoice ? "," : ""
  return [time.words, (days.words || everyDay) + comma, inMonths].filter((part) => part !== "").join(" ")
}

const UNITS: readonly (readonly [noun: string, size: number])[] = [
  ["day", DAY],
  ["hour", HOUR],
  ["minute", MINUTE],
  ["second", SECOND],
]

/** Larger counts of one unit are hard to read: 90 minutes, but 23 hours and 59 minutes. */
const COUNT_MAX = 120

function intervalWords(everyMs: number): string {
  const exact = UNITS.find(([, size]) => everyMs % size === 0)
  if (exact !== undefined) {
    const [noun, size] = exact
    const count = everyMs / size
    // A day of an interval is always 24 hours. "Every day" would promise the same time of day across clock changes.
    if (noun === "day") return count === 1 ? "24 hours" : `${countOf(count, "day")} of 24 hours`
    if (count === 1) return noun
    if (count <= COUNT_MAX) return countOf(count, noun)
  }
  return joinWords(mixedUnits(everyMs))
}

function mixedUnits(everyMs: number): readonly string[] {
  let rest = everyMs
  return UNITS.slice(1).flatMap(([noun, size]) => {
    const count = noun === "second" ? rest / size : Math.floor(rest / size)
    rest -= count * size
    return count === 0 ? [] : [countOf(count, noun)]
  })
}
