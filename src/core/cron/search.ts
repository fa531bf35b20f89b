import { DAY, EARLIEST, type Instant, LATEST, SECOND } from "../time/instant.ts"
import { isDayLeftOut, type Span } from "../time/zone.ts"
import type { CalendarCron, Cron, IntervalCron } from "./cron.ts"
import { wallAtOrAfter, wallAtOrBefore } from "./wall.ts"

/** The first instant strictly after `after` at which the expression fires, or null if there is none before year 10000. */
export function nextOccurrence(cron: Cron, after: Instant): Instant | null {
  return cron.kind === "interval" ? nextInterval(cron, after) : nextOnCalendar(cron, after)
}

/** The last instant strictly before `before` at which the expression fired. */
export function previousOccurrence(cron: Cron, before: Instant): Instant | null {
  return cron.kind === "interval" ? previousInterval(cron, before) : previousOnCalendar(cron, before)
}

/** If the next wall time is farther away than this, the search jumps there instead of walking span by span. */
const FAR = 3 * DAY

/**
 * Walks the zone's spans. Within a span the wall clock runs evenly, so one search on the wall clock is enough. For a
 * fixed-time job, the DST policy decides which part of the span is searched:
 *
 * - overlap `first`: from `seenUntil`, to leave out wall times that an earlier span has shown;
 * - overlap `second`: up to `repeatsFrom`, to leave out wall times that a later span will show again;
 * - gap `after`: if the gap before the span contains a match, the span's first instant replaces it. A match on a day that
 *   the zone left out entirely is not replaced.
 */
function nextOnCalendar(cron: CalendarCron, after: Instant): Instant | null {
  const { zone, isFixedTime, dst } = cron
  const from = Math.max(Math.floor(after / SECOND) * SECOND + SECOND, EARLIEST)
  let span = zone.spanAt(from)
  while (true) {
    if (isFixedTime && dst.gap === "after" && span.from >= from && matchInGap(cron, span) !== null)
      return span.from

    let start = Math.max(from, span.from) + span.offset
    if (isFixedTime && dst.overlap === "first") start = Math.max(start, span.seenUntil)
    let end = span.until + span.offset
    if (isFixedTime && dst.overlap === "second") end = Math.min(end, span.repeatsFrom)
    const wall = wallAtOrAfter(cron, start)
    if (wall < end) return inYears(wall - span.offset)
    if (span.until > LATEST) return null

    const following = zone.spanAt(span.until)
    // Nothing matches between `start` and `wall`, so spans that lie entirely between them are neither read nor built.
    const showsNothingEarlier = following.from + following.offset >= start
    span =
      showsNothingEarlier && wall - FAR > following.until
        ? zone.spanAt(Math.min(wall - FAR, LATEST))
        : following
  }
}

function previousOnCalendar(cron: CalendarCron, before: Instant): Instant | null {
  const { zone, isFixedTime, dst } = cron
  const until = Math.min(Math.ceil(before / SECOND) * SECOND - SECOND, LATEST)
  let span = zone.spanAt(until)
  while (true) {
    let start = span.from + span.offset
    if (isFixedTime && dst.overlap === "first") start = Math.max(start, span.seenUntil)
    let end = Math.min(until, span.until - SECOND) + span.offset
    if (isFixedTime && dst.overlap === "second") end = Math.min(end, span.repeatsFrom - SECOND)
    const wall = wallAtOrBefore(cron, end)
    if (wall >= start) return inYears(wall - span.offset)
    if (isFixedTime && dst.gap === "after" && matchInGap(cron, span) !== null) return span.from
    if (span.from <= EARLIEST) return null

    const preceding = zone.spanAt(span.from - SECOND)
    const showsNothingLater = preceding.until + preceding.offset <= end + SECOND
    span =
      showsNothingLater && wall + FAR < preceding.from
        ? zone.spanAt(Math.max(wall + FAR, EARLIEST))
        : preceding
  }
}

/** The first matching wall time in the gap before this span, on a day that exists in the zone. */
export function matchInGap(cron: CalendarCron, span: Span): number | null {
  const firstWall = span.from + span.offset
  let wall = wallAtOrAfter(cron, span.seenUntil)
  while (isDayLeftOut(span, wall)) wall = wallAtOrAfter(cron, Math.floor(wall / DAY) * DAY + DAY)
  return wall < firstWall ? wall : null
}

function inYears(instant: Instant): Instant | null {
  return instant >= EARLIEST && instant <= LATEST ? instant : null
}

function nextInterval({ everyMs, anchor }: IntervalCron, after: Instant): Instant | null {
  if (anchor === null) return inYears(after + everyMs)
  return inYears(anchor + (Math.floor((after - anchor) / everyMs) + 1) * everyMs)
}

function previousInterval({ everyMs, anchor }: IntervalCron, before: Instant): Instant | null {
  if (anchor === null) return inYears(before - everyMs)
  return inYears(anchor + (Math.ceil((before - anchor) / everyMs) - 1) * everyMs)
}
