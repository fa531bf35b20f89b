import { assert, test } from "vitest"
import { EARLIEST, formatInstant, type Instant, LATEST } from "../instant.ts"
import type { CalendarCron } from "./cron.ts"
import { parseCron } from "./parse.ts"
import { nextOccurrence, previousOccurrence } from "./search.ts"

const KNOWN: readonly (readonly [title: string, expression: string, after: string, next: string[]])[] = [
  ["the next is strictly after", "0 12 * * *", "2026-03-27T12:00:00Z", ["2026-03-28T12:00:00Z"]],
  ["a millisecond before is before", "0 12 * * *", "2026-03-27T11:59:59.999Z", ["2026-03-27T12:00:00Z"]],
  ["a millisecond after is after", "0 12 * * *", "2026-03-27T12:00:00.001Z", ["2026-03-28T12:00:00Z"]],
  [
    "minutes run over the hour",
    "*/25 * * * *",
    "2026-03-27T12:30:00Z",
    ["2026-03-27T12:50:00Z", "2026-03-27T13:00:00Z", "2026-03-27T13:25:00Z"],
  ],
  [
    "seconds run over the minute",
    "*/40 * * * * *",
    "2026-03-27T12:30:30Z",
    ["2026-03-27T12:30:40Z", "2026-03-27T12:31:00Z", "2026-03-27T12:31:40Z"],
  ],
  [
    "a second of each minute",
    "30 * * * * *",
    "2026-03-27T12:30:40Z",
    ["2026-03-27T12:31:30Z", "2026-03-27T12:32:30Z"],
  ],
  [
    "the end of a year is the beginning of the next",
    "* * * * *",
    "2026-12-31T23:58:30Z",
    ["2026-12-31T23:59:00Z", "2027-01-01T00:00:00Z"],
  ],
  [
    "months without a 31st are left out",
    "0 0 31 * *",
    "2026-01-31T00:00:00Z",
    ["2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z", "2026-07-31T00:00:00Z", "2026-08-31T00:00:00Z"],
  ],
  [
    "a list of the first and the 31st has both (croner 11 leaves out 1 March)",
    "0 0 1,31 * *",
    "2026-01-31T00:00:00Z",
    ["2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-31T00:00:00Z", "2026-04-01T00:00:00Z"],
  ],
  [
    "29 February skips eight years around 2100",
    "0 0 29 2 *",
    "2092-03-01T00:00:00Z",
    ["2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"],
  ],
  [
    "29 February 2000 was the last day of 400 years counted from March",
    "0 6,18 * * *",
    "2000-02-28T18:00:00Z",
    ["2000-02-29T06:00:00Z", "2000-02-29T18:00:00Z", "2000-03-01T06:00:00Z"],
  ],
  [
    "a new century has no leap day, and its years begin as others do",
    "0 6,18 * * *",
    "2201-02-28T06:00:00Z",
    ["2201-02-28T18:00:00Z", "2201-03-01T06:00:00Z", "2201-03-01T18:00:00Z"],
  ],
  ["2000 was a leap year", "0 0 29 2 *", "1999-01-01T00:00:00Z", ["2000-02-29T00:00:00Z"]],
  [
    "29 February on a Monday comes every 28 years, and 12 or 40 over a century",
    "0 0 29 2 +MON",
    "2026-01-01T00:00:00Z",
    ["2044-02-29T00:00:00Z", "2072-02-29T00:00:00Z", "2112-02-29T00:00:00Z"],
  ],
  [
    "a day of the month or a weekday",
    "0 0 13 * FRI",
    "2026-02-01T00:00:00Z",
    ["2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z", "2026-02-27T00:00:00Z"],
  ],
  [
    "Friday the 13th",
    "0 0 13 * +FRI",
    "2026-01-01T00:00:00Z",
    ["2026-02-13T00:00:00Z", "2026-03-13T00:00:00Z", "2026-11-13T00:00:00Z", "2027-08-13T00:00:00Z"],
  ],
  [
    "the last day of the month",
    "0 0 L * *",
    "2028-01-31T00:00:00Z",
    ["2028-02-29T00:00:00Z", "2028-03-31T00:00:00Z", "2028-04-30T00:00:00Z"],
  ],
  [
    "three days before the last",
    "0 0 L-3 * *",
    "2026-02-01T00:00:00Z",
    ["2026-02-25T00:00:00Z", "2026-03-28T00:00:00Z"],
  ],
  [
    "the last weekday of the month",
    "0 0 LW * *",
    "2026-01-01T00:00:00Z",
    ["2026-01-30T00:00:00Z", "2026-02-27T00:00:00Z", "2026-03-31T00:00:00Z"],
  ],
  [
    "a weekday may be the 31st",
    "0 0 * * SAT",
    "2026-01-24T00:00:00Z",
    ["2026-01-31T00:00:00Z", "2026-02-07T00:00:00Z"],
  ],
  [
    "thirty days before the last is the first, of months that have 31 days, or the weekday nearest to it",
    "0 0 L-30W * *",
    "2026-05-15T00:00:00Z",
    ["2026-07-01T00:00:00Z", "2026-08-03T00:00:00Z", "2026-10-01T00:00:00Z"],
  ],
  [
    "the weekday nearest to the first never leaves the month",
    "0 0 1W * *",
    "2026-07-02T00:00:00Z",
    ["2026-08-03T00:00:00Z", "2026-09-01T00:00:00Z", "2026-10-01T00:00:00Z", "2026-11-02T00:00:00Z"],
  ],
  [
    "the weekday nearest to the 31st never leaves the month, nor comes where there is none",
    "0 0 31W * *",
    "2026-04-01T00:00:00Z",
    ["2026-05-29T00:00:00Z", "2026-07-31T00:00:00Z", "2026-08-31T00:00:00Z"],
  ],
  [
    "the third Friday",
    "0 0 * * FRI#3",
    "2026-01-01T00:00:00Z",
    ["2026-01-16T00:00:00Z", "2026-02-20T00:00:00Z", "2026-03-20T00:00:00Z"],
  ],
  [
    "the fifth Sunday, only in months that have one",
    "0 0 * * 7#5",
    "2026-01-01T00:00:00Z",
    ["2026-03-29T00:00:00Z", "2026-05-31T00:00:00Z", "2026-08-30T00:00:00Z"],
  ],
  [
    "the last Friday",
    "0 0 * * FRIL",
    "2026-01-01T00:00:00Z",
    ["2026-01-30T00:00:00Z", "2026-02-27T00:00:00Z", "2026-03-27T00:00:00Z"],
  ],
  [
    "the last of February as a fourth Friday, in common years",
    "0 0 L 2 +FRI#4",
    "2026-01-01T00:00:00Z",
    ["2031-02-28T00:00:00Z", "2042-02-28T00:00:00Z"],
  ],
  ["the far future", "30 5 1 1 *", "9997-06-01T00:00:00Z", ["9998-01-01T05:30:00Z", "9999-01-01T05:30:00Z"]],
  [
    "the distant past",
    "30 5 1 1 *",
    "0001-01-01T00:00:00Z",
    ["0001-01-01T05:30:00Z", "0002-01-01T05:30:00Z"],
  ],
]

for (const [title, expression, after, next] of KNOWN) {
  test(`${title}: ${expression}`, () => {
    assert.deepEqual(nextOf(expression, after, next.length), next)
    assert.deepEqual(previousOf(expression, secondAfter(next.at(-1)!), next.length), next.toReversed())
  })
}

test("nothing is left at the end of year 9999, and nothing was before year 1", () => {
  for (const timezone of ["UTC", "Asia/Tokyo", "America/New_York"]) {
    const cron = parseCron("0 0 1 6 *", { timezone })

    assert.isNull(nextOccurrence(cron, LATEST - 1))
    assert.isNull(nextOccurrence(cron, LATEST))
    assert.isNull(previousOccurrence(cron, EARLIEST))
    assert.isNull(previousOccurrence(cron, EARLIEST + 1))
    assert.isNull(nextOccurrence(cron, Date.parse("9999-06-02T00:00:00Z")))
    assert.isNull(previousOccurrence(cron, Date.parse("0001-05-31T00:00:00Z")))
    assert.equal(formatInstant(nextOccurrence(cron, EARLIEST)!).slice(0, 4), "0001")
    assert.equal(formatInstant(previousOccurrence(cron, LATEST)!).slice(0, 4), "9999")
  }
})

test("what the wall clock still shows in year 9999, or showed in year 1, may lie outside", () => {
  const lastEvening = parseCron("0 22 31 12 *", { timezone: "America/New_York" })
  const firstMorning = parseCron("0 5 1 1 *", { timezone: "Asia/Tokyo" })

  assert.isNull(nextOccurrence(lastEvening, Date.parse("9999-12-31T12:00:00Z")))
  assert.isNull(previousOccurrence(firstMorning, Date.parse("0001-01-02T00:00:00Z")))
})

test("a job that comes once in decades looks at few spans of its zone", () => {
  const cron = parseCron("0 0 29 2 +MON", { timezone: "Europe/Berlin" }) as CalendarCron
  let looks = 0
  const spanAt = (instant: Instant) => {
    looks++
    return cron.zone.spanAt(instant)
  }
  const counted = { ...cron, zone: { ...cron.zone, spanAt } }

  assert.equal(formatInstant(nextOccurrence(counted, Date.UTC(2026, 0, 1))!), "2044-02-28T23:00:00Z")
  assert.equal(formatInstant(previousOccurrence(counted, Date.UTC(2043, 0, 1))!), "2016-02-28T23:00:00Z")
  assert.isBelow(looks, 10)
})

test("every occurrence lies within years 1 to 9999", () => {
  for (const timezone of ["UTC", "Asia/Tokyo", "America/New_York"]) {
    const cron = parseCron("* * * * * *", { timezone })

    assert.equal(nextOccurrence(cron, EARLIEST - 1), EARLIEST)
    assert.equal(previousOccurrence(cron, LATEST + 1), LATEST - 999)
    assert.isNull(nextOccurrence(cron, LATEST - 999))
    assert.isNull(previousOccurrence(cron, EARLIEST))
  }
})

test("an interval with an anchor never drifts", () => {
  const cron = parseCron("@every 90s", { anchor: 1_000 })

  assert.equal(nextOccurrence(cron, 1_000), 91_000)
  assert.equal(nextOccurrence(cron, 90_999), 91_000)
  assert.equal(nextOccurrence(cron, 900_000_000_000), 900_000_001_000)
  assert.equal(nextOccurrence(cron, -200_000), -179_000)
  assert.equal(previousOccurrence(cron, 91_000), 1_000)
  assert.equal(previousOccurrence(cron, 91_001), 91_000)
})

test("an interval without an anchor counts from the instant it is asked about", () => {
  const cron = parseCron("@every 90s")

  assert.equal(nextOccurrence(cron, 1_234), 91_234)
  assert.equal(previousOccurrence(cron, 91_234), 1_234)
})

test("an interval ends with year 9999, too", () => {
  assert.isNull(nextOccurrence(parseCron("@every 1h"), LATEST - 1))
  assert.isNull(nextOccurrence(parseCron("@every 1h", { anchor: 0 }), LATEST))
  assert.equal(nextOccurrence(parseCron("@every 1h", { anchor: LATEST }), LATEST - 1), LATEST)
})

function nextOf(expression: string, after: string, count: number): string[] {
  return walk(nextOccurrence, { expression, from: after, count })
}

function previousOf(expression: string, before: string, count: number): string[] {
  return walk(previousOccurrence, { expression, from: before, count })
}

function walk(
  step: typeof nextOccurrence,
  about: { expression: string; from: string; count: number },
): string[] {
  const cron = parseCron(about.expression)
  const found: string[] = []
  let at: number | null = Date.parse(about.from)
  while (found.length < about.count) {
    at = step(cron, at)
    if (at === null) break
    found.push(formatInstant(at))
  }
  return found
}

function secondAfter(text: string): string {
  return formatInstant(Date.parse(text) + 1_000)
}
