import { assert, test } from "vitest"
import { EARLIEST, formatInstant, type Instant, LATEST } from "../time/instant.ts"
import type { CalendarCron } from "./cron.ts"
import { parseCron } from "./parse.ts"
import { nextOccurrence, previousOccurrence } from "./search.ts"

const KNOWN: readonly (readonly [title: string, expression: string, after: string, next: string[]])[] = [
  [
    "the next occurrence is strictly after the instant",
    "0 12 * * *",
    "2026-03-27T12:00:00Z",
    ["2026-03-28T12:00:00Z"],
  ],
  [
    "an occurrence 1 ms after the instant is found",
    "0 12 * * *",
    "2026-03-27T11:59:59.999Z",
    ["2026-03-27T12:00:00Z"],
  ],
  [
    "an occurrence 1 ms before the instant is not found",
    "0 12 * * *",
    "2026-03-27T12:00:00.001Z",
    ["2026-03-28T12:00:00Z"],
  ],
  [
    "minutes continue in the next hour",
    "*/25 * * * *",
    "2026-03-27T12:30:00Z",
    ["2026-03-27T12:50:00Z", "2026-03-27T13:00:00Z", "2026-03-27T13:25:00Z"],
  ],
  [
    "seconds continue in the next minute",
    "*/40 * * * * *",
    "2026-03-27T12:30:30Z",
    ["2026-03-27T12:30:40Z", "2026-03-27T12:31:00Z", "2026-03-27T12:31:40Z"],
  ],
  [
    "a fixed second fires once in each minute",
    "30 * * * * *",
    "2026-03-27T12:30:40Z",
    ["2026-03-27T12:31:30Z", "2026-03-27T12:32:30Z"],
  ],
  [
    "minutes continue in the next year",
    "* * * * *",
    "2026-12-31T23:58:30Z",
    ["2026-12-31T23:59:00Z", "2027-01-01T00:00:00Z"],
  ],
  [
    "months without a 31st are skipped",
    "0 0 31 * *",
    "2026-01-31T00:00:00Z",
    ["2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z", "2026-07-31T00:00:00Z", "2026-08-31T00:00:00Z"],
  ],
  [
    "a list of the first and the 31st matches both (croner 11 skips 1 March)",
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
    "29 February 2000, the last day of a 400-year cycle counted from March, is found",
    "0 6,18 * * *",
    "2000-02-28T18:00:00Z",
    ["2000-02-29T06:00:00Z", "2000-02-29T18:00:00Z", "2000-03-01T06:00:00Z"],
  ],
  [
    "the day after 28 February 2201 is 1 March",
    "0 6,18 * * *",
    "2201-02-28T06:00:00Z",
    ["2201-02-28T18:00:00Z", "2201-03-01T06:00:00Z", "2201-03-01T18:00:00Z"],
  ],
  ["29 February 2000 is found", "0 0 29 2 *", "1999-01-01T00:00:00Z", ["2000-02-29T00:00:00Z"]],
  [
    "29 February is a Monday every 28 years, or every 12 or 40 years across a century",
    "0 0 29 2 +MON",
    "2026-01-01T00:00:00Z",
    ["2044-02-29T00:00:00Z", "2072-02-29T00:00:00Z", "2112-02-29T00:00:00Z"],
  ],
  [
    "by default a day of the month or a weekday matches",
    "0 0 13 * FRI",
    "2026-02-01T00:00:00Z",
    ["2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z", "2026-02-27T00:00:00Z"],
  ],
  [
    "with a plus sign only Friday the 13th matches",
    "0 0 13 * +FRI",
    "2026-01-01T00:00:00Z",
    ["2026-02-13T00:00:00Z", "2026-03-13T00:00:00Z", "2026-11-13T00:00:00Z", "2027-08-13T00:00:00Z"],
  ],
  [
    "L is the last day of the month",
    "0 0 L * *",
    "2028-01-31T00:00:00Z",
    ["2028-02-29T00:00:00Z", "2028-03-31T00:00:00Z", "2028-04-30T00:00:00Z"],
  ],
  [
    "L-3 is the third day before the last",
    "0 0 L-3 * *",
    "2026-02-01T00:00:00Z",
    ["2026-02-25T00:00:00Z", "2026-03-28T00:00:00Z"],
  ],
  [
    "LW is the last weekday of the month",
    "0 0 LW * *",
    "2026-01-01T00:00:00Z",
    ["2026-01-30T00:00:00Z", "2026-02-27T00:00:00Z", "2026-03-31T00:00:00Z"],
  ],
  [
    "a weekday on the 31st matches",
    "0 0 * * SAT",
    "2026-01-24T00:00:00Z",
    ["2026-01-31T00:00:00Z", "2026-02-07T00:00:00Z"],
  ],
  [
    "L-30W is the weekday nearest to the first, in months of 31 days",
    "0 0 L-30W * *",
    "2026-05-15T00:00:00Z",
    ["2026-07-01T00:00:00Z", "2026-08-03T00:00:00Z", "2026-10-01T00:00:00Z"],
  ],
  [
    "1W stays in its month",
    "0 0 1W * *",
    "2026-07-02T00:00:00Z",
    ["2026-08-03T00:00:00Z", "2026-09-01T00:00:00Z", "2026-10-01T00:00:00Z", "2026-11-02T00:00:00Z"],
  ],
  [
    "31W stays in its month and skips months without a 31st",
    "0 0 31W * *",
    "2026-04-01T00:00:00Z",
    ["2026-05-29T00:00:00Z", "2026-07-31T00:00:00Z", "2026-08-31T00:00:00Z"],
  ],
  [
    "FRI#3 is the third Friday",
    "0 0 * * FRI#3",
    "2026-01-01T00:00:00Z",
    ["2026-01-16T00:00:00Z", "2026-02-20T00:00:00Z", "2026-03-20T00:00:00Z"],
  ],
  [
    "7#5 is the fifth Sunday, only in months that have one",
    "0 0 * * 7#5",
    "2026-01-01T00:00:00Z",
    ["2026-03-29T00:00:00Z", "2026-05-31T00:00:00Z", "2026-08-30T00:00:00Z"],
  ],
  [
    "FRIL is the last Friday",
    "0 0 * * FRIL",
    "2026-01-01T00:00:00Z",
    ["2026-01-30T00:00:00Z", "2026-02-27T00:00:00Z", "2026-03-27T00:00:00Z"],
  ],
  [
    "the last day of February is a fourth Friday only in common years",
    "0 0 L 2 +FRI#4",
    "2026-01-01T00:00:00Z",
    ["2031-02-28T00:00:00Z", "2042-02-28T00:00:00Z"],
  ],
  [
    "occurrences in years 9998 and 9999 are found",
    "30 5 1 1 *",
    "9997-06-01T00:00:00Z",
    ["9998-01-01T05:30:00Z", "9999-01-01T05:30:00Z"],
  ],
  [
    "occurrences in years 1 and 2 are found",
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

test("there is no occurrence after year 9999 and none before year 1", () => {
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

test("an occurrence outside years 1 to 9999 in UTC isn't found, even if the wall clock shows one of these years", () => {
  const lastEvening = parseCron("0 22 31 12 *", { timezone: "America/New_York" })
  const firstMorning = parseCron("0 5 1 1 *", { timezone: "Asia/Tokyo" })

  assert.isNull(nextOccurrence(lastEvening, Date.parse("9999-12-31T12:00:00Z")))
  assert.isNull(previousOccurrence(firstMorning, Date.parse("0001-01-02T00:00:00Z")))
})

test("the search for a job that occurs once in decades reads few spans of its zone", () => {
  const cron = parseCron("0 0 29 2 +MON", { timezone: "Europe/Berlin" }) as CalendarCron
  let reads = 0
  const spanAt = (instant: Instant) => {
    reads++
    return cron.zone.spanAt(instant)
  }
  const counted = { ...cron, zone: { ...cron.zone, spanAt } }

  assert.equal(formatInstant(nextOccurrence(counted, Date.UTC(2026, 0, 1))!), "2044-02-28T23:00:00Z")
  assert.equal(formatInstant(previousOccurrence(counted, Date.UTC(2043, 0, 1))!), "2016-02-28T23:00:00Z")
  assert.isBelow(reads, 10)
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

test("an interval without an anchor counts from the given instant", () => {
  const cron = parseCron("@every 90s")

  assert.equal(nextOccurrence(cron, 1_234), 91_234)
  assert.equal(previousOccurrence(cron, 91_234), 1_234)
})

test("an interval has no occurrence after year 9999", () => {
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
