import { BelfryError } from "../errors.ts"
import { plain } from "../values/shown.ts"
import { DAY, EARLIEST, type Instant, LATEST, SECOND } from "./instant.ts"

/**
 * Wall time and instants. The only module that knows time zones.
 *
 * A wall time is the number of milliseconds that the same digits have in UTC, so `wall = instant + offset`.
 * A zone is a sequence of spans of constant offset. Reading an offset from `Intl` takes about 1.4 µs, and a cron search
 * would need dozens of them. So the spans of a year are computed once (about 0.4 ms) and cached.
 */
export interface Zone {
  readonly name: string
  /** The span that contains the instant. */
  spanAt(instant: Instant): Span
}

/** A period in which a zone has one offset. Spans end with the year, so neighbouring spans may have the same offset. */
export interface Span {
  readonly from: Instant
  readonly until: Instant
  readonly offset: number
  /**
   * The latest wall time shown before this span. If it is below the span's first wall time, the clock jumped forward and
   * skipped the times between (a gap). If it is above, the clock went back and shows the times between again (an overlap).
   */
  readonly seenUntil: number
  /** A later span shows the wall times of this span from here on again. */
  readonly repeatsFrom: number
}

/**
 * Whether the gap before the span covers the whole calendar day of this wall time, from midnight to midnight, as in
 * Pacific/Apia on 30 December 2011. A day that the clock showed in part is not left out.
 */
export function isDayLeftOut(span: Span, wall: number): boolean {
  const midnight = Math.floor(wall / DAY) * DAY
  return midnight >= span.seenUntil && midnight + DAY <= span.from + span.offset
}

const zones = new Map<string, Zone>()

/** The zone with this IANA name. Throws if the name is unknown. */
export function zoneNamed(name: string): Zone {
  const known = zones.get(name)
  if (known) return known
  const zone = isUtc(name) ? utc(name) : spansOf(name, formatterOf(name))
  // Names are accepted in any case, so without a limit callers could grow the cache without end.
  if (zones.size > 2_000) zones.clear()
  zones.set(name, zone)
  return zone
}

/** Tzdata names without a slash. ICU accepts more ("BST" as Dhaka), but they are guesses, not IANA names. */
const SHORT_NAMES = new Set(
  (
    "CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran " +
    "Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK " +
    "Singapore Turkey UCT UTC Universal W-SU WET Zulu"
  )
    .toUpperCase()
    .split(" "),
)

export function isShortZoneName(name: string): boolean {
  return SHORT_NAMES.has(name.toUpperCase())
}

/** Twice the length of the longest IANA name. */
const NAME_MAX = 64

function formatterOf(name: string): Intl.DateTimeFormat {
  // Newer runtimes accept "+01:00". A fixed offset has no DST, and a schedule that works on Node 26 must work on Node 20.
  const isIana =
    typeof name === "string" &&
    name.length <= NAME_MAX &&
    (/^(?!SystemV\/)[A-Z][\w+-]*(\/[\w+-]+)+$/i.test(name) || isShortZoneName(name))
  try {
    if (!isIana) throw new RangeError("not an IANA name")
    return new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    })
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new BelfryError(
      "BELFRY_TIMEZONE_UNKNOWN",
      `Time zone ${JSON.stringify(String(name).slice(0, NAME_MAX))} is unknown. Use an IANA name such as "Europe/Berlin" or "UTC".`,
      { details: { timezone: plain(name) }, cause },
    )
  }
}

function isUtc(name: string): boolean {
  return /^(utc|etc\/utc|gmt|etc\/gmt)$/i.test(name)
}

function utc(name: string): Zone {
  const always: Span = {
    from: Number.NEGATIVE_INFINITY,
    until: Number.POSITIVE_INFINITY,
    offset: 0,
    seenUntil: Number.NEGATIVE_INFINITY,
    repeatsFrom: Number.POSITIVE_INFINITY,
  }
  return { name, spanAt: () => always }
}

function spansOf(name: string, formatter: Intl.DateTimeFormat): Zone {
  const years = new Map<number, readonly Span[]>()
  // Most searches use the same span as the last one. Keeping it makes the common case two comparisons.
  let last: Span | undefined

  function spanAt(instant: Instant): Span {
    if (last !== undefined && instant >= last.from && instant < last.until) return last
    const year = new Date(Math.min(Math.max(instant, EARLIEST), LATEST)).getUTCFullYear()
    let spans = years.get(year)
    if (spans === undefined) {
      spans = spansOfYear(formatter, year)
      years.set(year, spans)
    }
    last = spans.find((span) => instant < span.until) ?? spans[spans.length - 1]!
    return last
  }

  return { name, spanAt }
}

/** No zone has two changes closer than 3.99 days (Freetown, 1939), so a step this short misses none. */
const STEP = 3.5 * DAY
/** An overlap near New Year reaches into the next year. So the search covers this much more on both sides, then cuts. */
const MARGIN = 3 * DAY

function spansOfYear(formatter: Intl.DateTimeFormat, year: number): readonly Span[] {
  const from = startOfYear(year)
  const until = startOfYear(year + 1)
  const stretches = constantStretches(formatter, from - MARGIN, until + MARGIN)

  // A stretch inside the margin becomes a span that contains no instant.
  return stretches.map((stretch, index) => {
    const start = Math.max(stretch.from, from)
    const seen = Math.max(...stretches.slice(0, index).map((earlier) => earlier.until + earlier.offset))
    return {
      from: start,
      until: Math.min(stretch.until, until),
      offset: stretch.offset,
      // A cut at New Year is not a clock change: no gap begins there, but an overlap may continue across it.
      seenUntil: stretch.from < from ? Math.max(seen, start + stretch.offset) : seen,
      repeatsFrom: Math.min(...stretches.slice(index + 1).map((later) => later.from + later.offset)),
    }
  })
}

function startOfYear(year: number): Instant {
  return new Date(0).setUTCFullYear(year, 0, 1)
}

type Stretch = Pick<Span, "from" | "until" | "offset">

function constantStretches(formatter: Intl.DateTimeFormat, from: Instant, until: Instant): Stretch[] {
  const stretches: Stretch[] = []
  let start = from
  let offset = offsetAt(formatter, from)
  for (let left = from; left < until; left += STEP) {
    const right = Math.min(left + STEP, until)
    const offsetRight = offsetAt(formatter, right)
    if (offsetRight === offset) continue
    const change = firstSecondWith(formatter, offset, left, right)
    stretches.push({ from: start, until: change, offset })
    start = change
    offset = offsetRight
  }
  stretches.push({ from: start, until, offset })
  return stretches
}

/** The second in (left, right] at which the offset stops being `offset`. */
function firstSecondWith(
  formatter: Intl.DateTimeFormat,
  offset: number,
  left: Instant,
  right: Instant,
): Instant {
  let before = Math.floor(left / SECOND)
  let after = Math.ceil(right / SECOND)
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (offsetAt(formatter, middle * SECOND) === offset) before = middle
    else after = middle
  }
  return after * SECOND
}

/** Wall time minus instant, in milliseconds. The format is fixed: "3/29/2026, 03:00:00". */
function offsetAt(formatter: Intl.DateTimeFormat, instant: Instant): number {
  // Before year 1 the formatter would need an era. Offsets don't change there.
  const clamped = Math.max(instant, EARLIEST + 2 * DAY)
  const [month, day, year, hour, minute, second] = formatter.format(clamped).split(/\D+/).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const wall = new Date(0)
  wall.setUTCFullYear(year, month - 1, day)
  wall.setUTCHours(hour, minute, second)
  return wall.getTime() - Math.floor(clamped / SECOND) * SECOND
}
