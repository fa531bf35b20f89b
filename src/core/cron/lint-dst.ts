import { DAY, type Instant, LATEST, SECOND } from "../time/instant.ts"
import { isDayLeftOut, type Span, type Zone } from "../time/zone.ts"
import type { CalendarCron } from "./cron.ts"
import type { Lint } from "./lint.ts"
import { matchInGap } from "./search.ts"
import { wallAtOrAfter } from "./wall.ts"
import { dateWords, timeOfDayWords } from "./wall-words.ts"

/**
 * L04 and L05: the next clock change that skips or repeats a time of this job, and the effect on the job.
 * Only for fixed-time jobs. All others follow elapsed time, so clock changes neither move nor drop their occurrences.
 */
export function lintClockChanges(cron: CalendarCron, now: Instant): readonly (Lint | null)[] {
  if (!cron.isFixedTime) return []
  const changes = spansAhead(cron.zone, now)
  return [
    firstOf(changes, (span) => lintGap(cron, span)),
    firstOf(changes, (span) => lintOverlap(cron, span)),
  ]
}

/** Morocco changes its clocks most often: four times a year. With the cut at New Year a year has at most five spans. */
const YEARS_AHEAD = 2 * 366 * DAY

/** The spans that begin after `now`. Each begins with a clock change, except at New Year, where all spans are cut. */
function spansAhead(zone: Zone, now: Instant): readonly Span[] {
  const spans: Span[] = []
  let { until } = zone.spanAt(now)
  while (until <= Math.min(now + YEARS_AHEAD, LATEST)) {
    const span = zone.spanAt(until)
    spans.push(span)
    until = span.until
  }
  return spans
}

function firstOf(spans: readonly Span[], lintOf: (span: Span) => Lint | null): Lint | null {
  for (const span of spans) {
    const lint = lintOf(span)
    if (lint !== null) return lint
  }
  return null
}

function lintGap(cron: CalendarCron, span: Span): Lint | null {
  const resumesAt = span.from + span.offset
  const skipped = matchInGap(cron, span)
  if (skipped === null) return lintDayLeftOut(cron, span)
  const change = `${timeOfDayWords(span.seenUntil)} to ${timeOfDayWords(resumesAt)}`
  const outcome =
    cron.dst.gap === "after"
      ? `it runs once, at ${timeOfDayWords(resumesAt)} (gap: after)`
      : "it is left out (gap: skip)"
  return {
    code: "L04",
    severity: "warn",
    message: `${matchWords(cron, skipped, resumesAt)} skipped by the clock on ${place(cron, skipped)}, ${change}: ${outcome}.`,
  }
}

/** A day of the job that the zone leaves out of its calendar. Under either gap policy the job doesn't run for it. */
function lintDayLeftOut(cron: CalendarCron, span: Span): Lint | null {
  const leftOut = wallAtOrAfter(cron, span.seenUntil)
  if (!isDayLeftOut(span, leftOut)) return null
  return {
    code: "L04",
    severity: "warn",
    message: `There is no ${place(cron, leftOut)}: it doesn't run for that day.`,
  }
}

const OUTCOMES = {
  first: "it runs the first time only (overlap: first)",
  second: "it runs the second time only (overlap: second)",
  both: "it runs both times (overlap: both)",
} as const

function lintOverlap(cron: CalendarCron, span: Span): Lint | null {
  const backTo = span.from + span.offset
  const repeated = wallAtOrAfter(cron, backTo)
  if (repeated >= span.seenUntil) return null
  const change = `${timeOfDayWords(span.seenUntil)} back to ${timeOfDayWords(backTo)}`
  return {
    code: "L05",
    severity: "warn",
    message: `${matchWords(cron, repeated, span.seenUntil)} shown twice by the clock on ${place(cron, repeated)}, ${change}: ${OUTCOMES[cron.dst.overlap]}.`,
  }
}

/** `02:30 is`, or `02:00, with later times, is` if several times of the job fall into the skipped or repeated period. */
function matchWords(cron: CalendarCron, wall: number, end: number): string {
  const hasMore = wallAtOrAfter(cron, wall + SECOND) < end
  return `${timeOfDayWords(wall)}${hasMore ? ", with later times," : ""} is`
}

function place(cron: CalendarCron, wall: number): string {
  return `${dateWords(wall)} in ${cron.zone.name}`
}
