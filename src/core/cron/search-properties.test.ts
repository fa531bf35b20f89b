import fc from "fast-check"
import { assert, test } from "vitest"
import { assertProperty, SEED } from "../../../test/support/properties.ts"
import { DAY, HOUR, type Instant, LATEST, MINUTE } from "../time/instant.ts"
import type { CalendarCron, DstPolicy } from "./cron.ts"
import { parseCron } from "./parse.ts"
import { nextOccurrence, previousOccurrence } from "./search.ts"

const clocks = new Map<string, Clock>()

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/Sao_Paulo",
  "Asia/Kathmandu",
  "Asia/Gaza",
  "Africa/Casablanca",
  "Africa/Sao_Tome",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Pacific/Kwajalein",
  "Antarctica/Troll",
]

/** Declares a property of every expression, zone and instant. */
function holds<Values extends [unknown, ...unknown[]]>(
  title: string,
  numRuns: number,
  property: fc.IProperty<Values>,
): void {
  test(`${title} (seed ${SEED}, ${numRuns} runs)`, () => assertProperty(property, { numRuns }))
}

holds(
  "the next occurrence is strictly after the instant, and the previous one strictly before it",
  2_000,
  fc.property(anyCron(), anyInstant(), (cron, instant) => {
    const next = nextOccurrence(cron, instant)
    const previous = previousOccurrence(cron, instant)
    assert.isTrue(next === null || next > instant)
    assert.isTrue(previous === null || previous < instant)
  }),
)

holds(
  "there is no occurrence between an instant and its next occurrence",
  2_000,
  fc.property(anyCron(), anyInstant(), (cron, instant) => {
    const next = nextOccurrence(cron, instant)
    fc.pre(next !== null)
    const before = previousOccurrence(cron, next)
    assert.isTrue(before === null || before <= instant, `${before} lies between`)
    assert.equal(previousOccurrence(cron, next + 1), next)
  }),
)

holds(
  "there is no occurrence between an instant and its previous occurrence",
  2_000,
  fc.property(anyCron(), anyInstant(), (cron, instant) => {
    const previous = previousOccurrence(cron, instant)
    fc.pre(previous !== null)
    const after = nextOccurrence(cron, previous)
    assert.isTrue(after === null || after >= instant, `${after} lies between`)
    assert.equal(nextOccurrence(cron, previous - 1), previous)
  }),
)

holds(
  "a later instant never has an earlier next occurrence",
  2_000,
  fc.property(
    anyCron(),
    anyInstant(),
    fc.integer({ min: 0, max: 400 * 24 * HOUR }),
    (cron, instant, later) => {
      const first = nextOccurrence(cron, instant) ?? LATEST
      const second = nextOccurrence(cron, Math.min(instant + later, LATEST)) ?? LATEST
      assert.isAtMost(first, second)
    },
  ),
)

holds(
  "occurrences around a clock change equal the matches found by reading the wall clock every minute",
  1_500,
  fc.property(naiveJob(), clockChange(), policy(), (job, [timezone, change], dst) => {
    const cron = parseCron(job.expression, { timezone, dst }) as CalendarCron
    const from = change - 36 * HOUR
    const until = change + 36 * HOUR

    const found: Instant[] = []
    let at = nextOccurrence(cron, from - 1)
    while (at !== null && at < until) {
      found.push(at)
      at = nextOccurrence(cron, at)
    }
    const backwards: Instant[] = []
    at = previousOccurrence(cron, until)
    while (at !== null && at >= from) {
      backwards.push(at)
      at = previousOccurrence(cron, at)
    }

    const naive = naiveOccurrences(job, { clock: clockAround(timezone, change), from, until, dst })
    const about = `${job.expression} in ${timezone} around ${new Date(change).toISOString()}`
    assert.deepEqual(found, naive, about)
    assert.deepEqual(backwards.toReversed(), naive, `${about}, backwards`)
  }),
)

// Generators

function anyCron(): fc.Arbitrary<CalendarCron> {
  const text = (max: number, min = 0) =>
    fc.oneof(
      fc.constant("*"),
      fc.integer({ min, max }).map(String),
      fc.integer({ min: 1, max: max - min + 1 }).map((step) => `*/${step}`),
      fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map(([a, b]) => `${a},${b}`),
      fc
        .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
        .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    )
  const day = fc.oneof(text(31, 1), fc.constantFrom("?", "L", "LW", "L-5", "15W", "31W", "1,L"))
  const weekday = fc.oneof(text(7), fc.constantFrom("*", "?", "+1", "+FRI", "FRI#3", "7L", "MON-FRI", "+2#5"))
  const seconds = fc.oneof(
    { weight: 3, arbitrary: fc.constant("") },
    text(59).map((field) => `${field} `),
  )
  return fc
    .tuple(seconds, text(59), text(23), day, text(12, 1), weekday, fc.constantFrom(...ZONES), policy())
    .map(([second, minute, hour, dayOfMonth, month, dayOfWeek, timezone, dst]) => {
      try {
        return parseCron(`${second}${minute} ${hour} ${dayOfMonth} ${month} ${dayOfWeek}`, { timezone, dst })
      } catch {
        return null // it never matches
      }
    })
    .filter((cron) => cron !== null) as fc.Arbitrary<CalendarCron>
}

function anyInstant(): fc.Arbitrary<Instant> {
  const between = (from: string, to: string) => fc.integer({ min: Date.parse(from), max: Date.parse(to) })
  return fc.oneof(
    { weight: 6, arbitrary: between("2000-01-01T00:00:00Z", "2040-01-01T00:00:00Z") },
    { weight: 2, arbitrary: between("1860-01-01T00:00:00Z", "2000-01-01T00:00:00Z") },
    { weight: 1, arbitrary: between("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z") },
  )
}

function policy(): fc.Arbitrary<DstPolicy> {
  return fc.record({
    gap: fc.constantFrom("after" as const, "skip" as const),
    overlap: fc.constantFrom("first" as const, "second" as const, "both" as const),
  })
}

function clockChange(): fc.Arbitrary<[timezone: string, change: Instant]> {
  return fc
    .constantFrom(
      ["Europe/Berlin", "2026-03-29T01:00:00Z"],
      ["Europe/Berlin", "2026-10-25T01:00:00Z"],
      ["America/New_York", "2026-03-08T07:00:00Z"],
      ["America/New_York", "2026-11-01T06:00:00Z"],
      ["Australia/Lord_Howe", "2026-04-04T15:00:00Z"],
      ["Australia/Lord_Howe", "2026-10-03T15:30:00Z"],
      ["America/Sao_Paulo", "2018-11-04T03:00:00Z"],
      ["America/Sao_Paulo", "2018-02-18T02:00:00Z"],
      ["America/Havana", "2026-03-08T05:00:00Z"],
      ["America/Havana", "2026-11-01T05:00:00Z"],
      ["Pacific/Apia", "2011-12-30T10:00:00Z"],
      ["Pacific/Kwajalein", "1993-08-21T12:00:00Z"],
      ["Pacific/Kiritimati", "1994-12-31T10:00:00Z"],
      ["Asia/Dhaka", "2009-12-31T17:00:00Z"],
      ["Asia/Kathmandu", "1985-12-31T18:30:00Z"],
      ["Antarctica/Troll", "2026-10-25T01:00:00Z"],
      ["Antarctica/Casey", "2010-03-04T15:00:00Z"],
      ["UTC", "2026-03-29T01:00:00Z"],
    )
    .map(([timezone, change]) => [timezone!, Date.parse(change!)])
}

// The naive search: read the wall clock once a minute

/** A job that matches by its own sets of numbers, independent of the parser. */
interface NaiveJob {
  readonly expression: string
  readonly isFixedTime: boolean
  readonly matches: (wall: Date) => boolean
}

interface Numbers {
  readonly text: string
  readonly has: (value: number) => boolean
}

function numbers(max: number): fc.Arbitrary<Numbers> {
  const value = fc.integer({ min: 0, max })
  return fc.oneof(
    fc.constant({ text: "*", has: () => true }),
    fc
      .integer({ min: 1, max: 20 })
      .map((step) => ({ text: `*/${step}`, has: (n: number) => n % step === 0 })),
    value.map((only) => ({ text: `${only}`, has: (n: number) => n === only })),
    fc.tuple(value, value).map(([a, b]) => ({ text: `${a},${b}`, has: (n: number) => n === a || n === b })),
    fc.tuple(value, fc.integer({ min: 0, max: 30 })).map(([from, length]) => {
      const to = Math.min(from + length, max)
      return { text: `${from}-${to}`, has: (n: number) => n >= from && n <= to }
    }),
  )
}

function naiveJob(): fc.Arbitrary<NaiveJob> {
  const day = fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, fc.integer({ min: 1, max: 31 }))
  const weekday = fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, fc.integer({ min: 0, max: 6 }))
  // Clocks change at night, so night hours are chosen more often.
  const hour = fc.oneof(numbers(23), numbers(4))
  return fc.tuple(numbers(59), hour, day, weekday).map(([minutes, hours, dayOfMonth, dayOfWeek]) => ({
    expression: `${minutes.text} ${hours.text} ${dayOfMonth ?? "*"} * ${dayOfWeek ?? "*"}`,
    isFixedTime: !minutes.text.startsWith("*") && !hours.text.startsWith("*"),
    matches: (wall) => {
      if (!minutes.has(wall.getUTCMinutes()) || !hours.has(wall.getUTCHours())) return false
      const onDay = wall.getUTCDate() === dayOfMonth
      const onWeekday = wall.getUTCDay() === dayOfWeek
      return (dayOfMonth === null && dayOfWeek === null) || onDay || onWeekday
    },
  }))
}

function naiveOccurrences(
  job: NaiveJob,
  about: { clock: Clock; from: Instant; until: Instant; dst: DstPolicy },
): Instant[] {
  const { start, walls, days, lastShown } = about.clock
  const found: Instant[] = []
  const matches = (wall: number) => job.matches(new Date(wall))
  let seen = walls[0]!
  for (let index = 1; start + index * MINUTE < about.until; index++) {
    const wall = walls[index]!
    let isDue = matches(wall)
    if (job.isFixedTime) {
      if (about.dst.overlap === "first") isDue &&= wall > seen
      if (about.dst.overlap === "second") isDue &&= lastShown.get(wall) === index
      if (about.dst.gap === "after") {
        for (let skipped = seen + MINUTE; skipped < wall && !isDue; skipped += MINUTE)
          isDue = days.has(dayOf(skipped)) && matches(skipped)
      }
    }
    seen = Math.max(seen, wall)
    if (isDue && start + index * MINUTE >= about.from) found.push(start + index * MINUTE)
  }
  return found
}

/** The wall time of each minute from `start` on, and the index of the last minute that shows each wall time. */
interface Clock {
  readonly start: Instant
  readonly walls: readonly number[]
  /** The calendar days that the clock shows at all. */
  readonly days: ReadonlySet<number>
  readonly lastShown: ReadonlyMap<number, number>
}

/** Read from `Intl`, by another method than that of the engine. */
function clockAround(timezone: string, change: Instant): Clock {
  const known = clocks.get(`${timezone} ${change}`)
  if (known) return known
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: timezone,
    dateStyle: "short",
    timeStyle: "medium",
  })
  // One more day on both sides shows which wall times were seen before and which are seen again.
  const start = change - 61 * HOUR
  const walls: number[] = []
  for (let at = start; at < change + 61 * HOUR; at += MINUTE) {
    walls.push(Date.parse(`${format.format(at).replace(" ", "T")}Z`))
  }
  const days = new Set(walls.map(dayOf))
  const clock = { start, walls, days, lastShown: new Map(walls.map((wall, index) => [wall, index])) }
  clocks.set(`${timezone} ${change}`, clock)
  return clock
}

function dayOf(wall: number): number {
  return Math.floor(wall / DAY)
}
