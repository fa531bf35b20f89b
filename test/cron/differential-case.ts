/** A random case that matches by its own sets of numbers, independent of any parser. */
export interface Case {
  readonly seed: number
  readonly expression: string
  readonly timezone: string
  readonly after: number
  readonly isFixedTime: boolean
  /** Whether the wall time matches the expression. */
  readonly matches: (wall: number) => boolean
  readonly matchesDay: (wall: number) => boolean
}

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "Europe/London",
  "America/New_York",
  "America/Sao_Paulo",
  "America/Havana",
  "Africa/Casablanca",
  "Asia/Kathmandu",
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Pacific/Chatham",
]

/** The case of a seed. It uses only syntax that all peers read alike: no `L`, `W`, `#`, `H`, `?`, `N/step`. */
export function caseOf(seed: number): Case {
  const random = randomFrom(seed)
  const second = random() < 0.2 ? fieldOf(random, { min: 0, max: 59, star: 0.1 }) : null
  const minute = fieldOf(random, { min: 0, max: 59, star: 0.15 })
  // Clocks change at night, so night hours are chosen more often.
  const hour = fieldOf(random, { min: 0, max: 23, star: 0.2, often: 3 })
  const day = fieldOf(random, { min: 1, max: 31, star: 0.55 })
  const month = fieldOf(random, { min: 1, max: 12, star: 0.7 })
  const weekday = fieldOf(random, { min: 0, max: 6, star: 0.6 })
  const timezone = ZONES[Math.floor(random() * ZONES.length)]!
  const matchesDay = (wall: number) => {
    const date = new Date(wall)
    const onDay = day.values.has(date.getUTCDate())
    const onWeekday = weekday.values.has(date.getUTCDay())
    const isEither = day.text !== "*" && weekday.text !== "*"
    return month.values.has(date.getUTCMonth() + 1) && (isEither ? onDay || onWeekday : onDay && onWeekday)
  }
  const matchesTime = (wall: number) => {
    const date = new Date(wall)
    return (
      (second ? second.values.has(date.getUTCSeconds()) : date.getUTCSeconds() === 0) &&
      minute.values.has(date.getUTCMinutes()) &&
      hour.values.has(date.getUTCHours())
    )
  }
  return {
    seed,
    expression: [...(second ? [second] : []), minute, hour, day, month, weekday]
      .map((field) => field.text)
      .join(" "),
    timezone,
    after: startOf(random, timezone),
    isFixedTime: !minute.text.startsWith("*") && !hour.text.startsWith("*"),
    matches: (wall) => matchesTime(wall) && matchesDay(wall),
    matchesDay,
  }
}

interface RandomField {
  readonly text: string
  readonly values: ReadonlySet<number>
}

function fieldOf(
  random: () => number,
  { min, max, star, often = max }: { min: number; max: number; star: number; often?: number },
): RandomField {
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1))
  const stepped = (low: number, high: number, step: number) => {
    const values = new Set<number>()
    for (let value = low; value <= high; value += step) values.add(value)
    return values
  }
  if (random() < star) return { text: "*", values: stepped(min, max, 1) }
  const top = random() < 0.5 ? often : max
  const low = between(min, top)
  const high = between(low, top)
  switch (between(0, 4)) {
    case 0:
      return { text: `${low}`, values: new Set([low]) }
    case 1: {
      // cron-parser refuses a value that is listed twice.
      const ends = [min, between(max - 2, max)]
      const list = random() < 0.3 ? ends : [...new Set([low, between(min, top), between(min, top)])]
      return { text: list.join(","), values: new Set(list) }
    }
    case 2:
      return { text: `${low}-${high}`, values: stepped(low, high, 1) }
    case 3: {
      const step = between(1, Math.max(1, high - low))
      return { text: `${low}-${high}/${step}`, values: stepped(low, high, step) }
    }
    default: {
      const step = between(2, Math.ceil((max - min) / 2))
      return { text: `*/${step}`, values: stepped(min, max, step) }
    }
  }
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Any minute from 2008 to 2034; in half the cases one of the two days before a clock change. */
function startOf(random: () => number, timezone: string): number {
  const start = Date.UTC(2008, 0, 1) + Math.floor(random() * 27 * 365 * 1_440) * MINUTE
  const back = Math.floor(random() * 2 * 1_440) * MINUTE
  if (random() < 0.5) return start
  const clock = clockIn(timezone)
  for (let day = start; day < start + 366 * DAY; day += DAY) {
    if (clock(day) - day === clock(day + DAY) - (day + DAY)) continue
    return day + DAY - back
  }
  return start
}

/** Mulberry32. */
function randomFrom(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** The wall time in the zone, read from `Intl` by another method than that of the engine. */
export function clockIn(timezone: string): (instant: number) => number {
  let format = formats.get(timezone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat("sv-SE", { timeZone: timezone, dateStyle: "short", timeStyle: "medium" })
    formats.set(timezone, format)
  }
  const { format: show } = format
  return (instant) => Date.parse(`${show(instant).replace(" ", "T")}Z`)
}

/** The wall time of an instant in a zone, and the clock changes near it. */
export interface WallMoment {
  readonly wall: number
  /** The milliseconds by which the clock jumped forward just before. 0: no jump. */
  readonly gapBefore: number
  /** The clock never shows the calendar day before. */
  readonly isDayBeforeLeftOut: boolean
  readonly wasShown: boolean
  readonly isShownAgain: boolean
  /** The wall times by the other offsets within 26 hours: those before and after a clock change nearby. */
  readonly wallsByOtherOffset: readonly number[]
}

const NEARBY = 26 * HOUR

export function momentAt(timezone: string, instant: number): WallMoment {
  const clock = clockIn(timezone)
  const wall = clock(instant)
  const offset = wall - instant
  const offsets = new Set<number>()
  for (let at = instant - NEARBY; at <= instant + NEARBY; at += HOUR / 2) offsets.add(clock(at) - at)
  offsets.delete(offset)
  const others = [...offsets]
  const isShownBy = (other: number) => clock(instant + offset - other) === wall
  const gapBefore = Math.max(0, wall - clock(instant - 1_000) - 1_000)
  return {
    wall,
    gapBefore,
    isDayBeforeLeftOut: gapBefore === DAY && wall % DAY === 0,
    wasShown: others.some((other) => other > offset && isShownBy(other)),
    isShownAgain: others.some((other) => other < offset && isShownBy(other)),
    wallsByOtherOffset: others.map((other) => instant + other),
  }
}

/** Our rule for one instant, computed from the wall clock alone. */
export function isDueAt(about: Case, { wall, gapBefore, isDayBeforeLeftOut, wasShown }: WallMoment): boolean {
  if (!about.isFixedTime) return about.matches(wall)
  if (about.matches(wall) && !wasShown) return true
  if (isDayBeforeLeftOut) return false
  for (let skipped = wall - gapBefore; skipped < wall; skipped += 1_000) {
    if (about.matches(skipped)) return true
  }
  return false
}
