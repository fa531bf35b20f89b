import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { assert, test } from "vitest"
import { formatInstant } from "../time/instant.ts"
import type { CronOptions } from "./cron.ts"
import { parseCron } from "./parse.ts"
import { nextOccurrence, previousOccurrence } from "./search.ts"

/** Expressions are in the given zone; `after` and `next` are in UTC. */
const ZONED: readonly (readonly [
  title: string,
  expression: string,
  zone: string,
  after: string,
  next: string[],
])[] = [
  [
    "a job at nine keeps its wall time over the change",
    "0 9 * * *",
    "Europe/Berlin",
    "2026-03-28T00:00:00Z",
    ["2026-03-28T08:00:00Z", "2026-03-29T07:00:00Z"],
  ],
  [
    "a fixed time in a gap fires right after it",
    "30 2 * * *",
    "Europe/Berlin",
    "2026-03-28T12:00:00Z",
    ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"],
  ],
  [
    "a list that lies in a gap fires once",
    "0,15,30,45 2 * * *",
    "Europe/Berlin",
    "2026-03-28T12:00:00Z",
    ["2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"],
  ],
  [
    "a time in the gap and one at its end are one run",
    "0 2,3 * * *",
    "Europe/Berlin",
    "2026-03-28T12:00:00Z",
    ["2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z", "2026-03-30T01:00:00Z"],
  ],
  [
    "a fixed time in an overlap fires the first time",
    "30 2 * * *",
    "Europe/Berlin",
    "2026-10-24T12:00:00Z",
    ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"],
  ],
  [
    "after the first of two showings, the next occurrence is tomorrow",
    "30 2 * * *",
    "Europe/Berlin",
    "2026-10-25T01:00:00Z",
    ["2026-10-26T01:30:00Z"],
  ],
  [
    "one second before the gap, the next occurrence is the end of the gap",
    "30 2 * * *",
    "Europe/Berlin",
    "2026-03-29T00:59:59Z",
    ["2026-03-29T01:00:00Z"],
  ],
  [
    "a yearly job on the day of a forward change keeps its wall time",
    "0 9 29 3 *",
    "Europe/Berlin",
    "2025-06-01T00:00:00Z",
    ["2026-03-29T07:00:00Z", "2027-03-29T07:00:00Z"],
  ],
  [
    "a yearly job on the day of a backward change fires once",
    "30 2 25 10 *",
    "Europe/Berlin",
    "2025-11-01T00:00:00Z",
    ["2026-10-25T00:30:00Z", "2027-10-25T00:30:00Z"],
  ],
  [
    "a yearly wildcard job fires in both showings of an hour",
    "*/30 2 25 10 *",
    "Europe/Berlin",
    "2026-10-25T00:10:00Z",
    ["2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z", "2027-10-25T00:00:00Z"],
  ],
  [
    "a yearly wildcard job fires in both showings of an hour",
    "*/30 1 1 11 *",
    "America/New_York",
    "2026-11-01T05:10:00Z",
    ["2026-11-01T05:30:00Z", "2026-11-01T06:00:00Z", "2026-11-01T06:30:00Z", "2027-11-01T05:00:00Z"],
  ],
  [
    "a yearly wildcard job fires in both showings of the hour after midnight",
    "45 */24 1 11 *",
    "America/Havana",
    "2025-11-02T00:00:00Z",
    ["2026-11-01T04:45:00Z", "2026-11-01T05:45:00Z", "2027-11-01T04:45:00Z"],
  ],
  [
    "a yearly wildcard job fires in both showings of the hour after midnight",
    "45 */24 29 10 *",
    "Asia/Amman",
    "2020-11-01T00:00:00Z",
    ["2021-10-28T21:45:00Z", "2021-10-28T22:45:00Z"],
  ],
  [
    "a job every 15 minutes keeps its interval through a gap",
    "*/15 * * * *",
    "America/New_York",
    "2026-03-08T06:30:00Z",
    ["2026-03-08T06:45:00Z", "2026-03-08T07:00:00Z", "2026-03-08T07:15:00Z"],
  ],
  [
    "a job every 30 minutes keeps its interval through an overlap",
    "*/30 * * * *",
    "America/New_York",
    "2026-11-01T04:59:00Z",
    ["2026-11-01T05:00:00Z", "2026-11-01T05:30:00Z", "2026-11-01T06:00:00Z", "2026-11-01T06:30:00Z"],
  ],
  [
    "an hourly job follows the wall clock through a change by half an hour",
    "0 * * * *",
    "Australia/Lord_Howe",
    "2026-10-03T14:00:00Z",
    ["2026-10-03T14:30:00Z", "2026-10-03T16:00:00Z", "2026-10-03T17:00:00Z"],
  ],
  [
    "a gap of half an hour delays only the times that lie in it",
    "15 2 * * *",
    "Australia/Lord_Howe",
    "2026-10-03T00:00:00Z",
    ["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"],
  ],
  [
    "a time in an overlap of half an hour fires once",
    "45 1 * * *",
    "Australia/Lord_Howe",
    "2026-04-04T00:00:00Z",
    ["2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"],
  ],
  [
    "a job at a midnight that doesn't exist fires at one o'clock",
    "0 0 * * *",
    "America/Sao_Paulo",
    "2018-11-03T12:00:00Z",
    ["2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"],
  ],
  [
    "a job at a midnight that doesn't exist fires at one o'clock",
    "0 0 * * *",
    "Asia/Beirut",
    "2022-03-26T12:00:00Z",
    ["2022-03-26T22:00:00Z", "2022-03-27T21:00:00Z"],
  ],
  [
    "a daily job doesn't fire for a day that the zone left out",
    "0 12 * * *",
    "Pacific/Apia",
    "2011-12-29T12:00:00Z",
    ["2011-12-29T22:00:00Z", "2011-12-30T22:00:00Z", "2011-12-31T22:00:00Z"],
  ],
  [
    "a job at midnight fires once after a day that the zone left out",
    "0 0 * * *",
    "Pacific/Apia",
    "2011-12-29T00:00:00Z",
    ["2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"],
  ],
  [
    "a job on a date that the zone left out fires in the next year",
    "0 12 30 12 *",
    "Pacific/Apia",
    "2011-06-01T00:00:00Z",
    ["2012-12-29T22:00:00Z", "2013-12-29T22:00:00Z"],
  ],
  [
    "a job on a weekday that the zone left out fires in the next week",
    "0 9 * * FRI",
    "Pacific/Fakaofo",
    "2011-12-29T12:00:00Z",
    ["2012-01-05T20:00:00Z", "2012-01-12T20:00:00Z"],
  ],
  [
    "a daily job doesn't fire for a day that the zone left out",
    "0 12 * * *",
    "Pacific/Kiritimati",
    "1994-12-30T12:00:00Z",
    ["1994-12-30T22:00:00Z", "1994-12-31T22:00:00Z", "1995-01-01T22:00:00Z"],
  ],
  [
    "a daily job doesn't fire for a day that the zone left out",
    "0 12 * * *",
    "Pacific/Enderbury",
    "1994-12-30T12:00:00Z",
    ["1994-12-30T23:00:00Z", "1994-12-31T23:00:00Z", "1995-01-01T23:00:00Z"],
  ],
  [
    "a daily job doesn't fire for a day that the zone left out",
    "0 12 * * *",
    "Pacific/Kwajalein",
    "1993-08-20T12:00:00Z",
    ["1993-08-21T00:00:00Z", "1993-08-22T00:00:00Z", "1993-08-23T00:00:00Z"],
  ],
  [
    "an hourly job fires every hour across a day that the zone left out",
    "0 * * * *",
    "Pacific/Apia",
    "2011-12-30T08:30:00Z",
    ["2011-12-30T09:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T11:00:00Z"],
  ],
  [
    "a daily job follows an offset of 5 h 45 min",
    "0 0 * * *",
    "Asia/Kathmandu",
    "2026-01-01T00:00:00Z",
    ["2026-01-01T18:15:00Z"],
  ],
  [
    "a yearly job follows the year of the wall clock, not of UTC",
    "0 0 1 1 *",
    "Pacific/Kiritimati",
    "2026-06-01T00:00:00Z",
    ["2026-12-31T10:00:00Z", "2027-12-31T10:00:00Z"],
  ],
  [
    "a job in the year 1880 follows local mean time, with seconds",
    "0 12 * * *",
    "America/New_York",
    "1880-01-01T00:00:00Z",
    ["1880-01-01T16:56:02Z"],
  ],
  [
    "a job in the year 9000 follows summer time",
    "0 12 1 7 *",
    "Europe/Berlin",
    "9000-01-01T00:00:00Z",
    ["9000-07-01T10:00:00Z"],
  ],
  [
    "29 February on a Monday is found by local dates",
    "0 0 29 2 +MON",
    "Asia/Tokyo",
    "2026-01-01T00:00:00Z",
    ["2044-02-28T15:00:00Z", "2072-02-28T15:00:00Z", "2112-02-28T15:00:00Z"],
  ],
]

for (const [title, expression, timezone, after, next] of ZONED) {
  test(`${title}: ${expression} in ${timezone}`, () => {
    assert.deepEqual(nextOf(expression, after, next.length, { timezone }), next)
    assert.deepEqual(
      previousOf(expression, secondAfter(next.at(-1)!), next.length, { timezone }),
      next.toReversed(),
    )
  })
}

const HOST_ZONES = ["America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"]

test("the result doesn't depend on the zone of the host", async () => {
  const answers = await Promise.all(HOST_ZONES.map(answersOnHostIn))

  for (const answer of answers) {
    assert.deepEqual(
      answer,
      ZONED.map(([, expression, timezone, after, next]) =>
        nextOf(expression, after, next.length, { timezone }),
      ),
    )
  }
})

async function answersOnHostIn(TZ: string): Promise<unknown> {
  const code = `
    import { parseCron } from ${JSON.stringify(new URL("./parse.ts", import.meta.url).href)}
    import { nextOccurrence } from ${JSON.stringify(new URL("./search.ts", import.meta.url).href)}
    import { formatInstant } from ${JSON.stringify(new URL("../time/instant.ts", import.meta.url).href)}
    const answers = ${JSON.stringify(ZONED)}.map(([, expression, timezone, after, next]) => {
      let at = Date.parse(after)
      return next.map(() => formatInstant((at = nextOccurrence(parseCron(expression, { timezone }), at))))
    })
    console.log(JSON.stringify(answers))`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "--eval", code],
    { env: { ...process.env, TZ } },
  )
  return JSON.parse(stdout)
}

function nextOf(expression: string, after: string, count: number, options: CronOptions = {}): string[] {
  return walk(nextOccurrence, { expression, from: after, count, options })
}

function previousOf(expression: string, before: string, count: number, options: CronOptions = {}): string[] {
  return walk(previousOccurrence, { expression, from: before, count, options })
}

function walk(
  step: typeof nextOccurrence,
  about: { expression: string; from: string; count: number; options: CronOptions },
): string[] {
  const cron = parseCron(about.expression, about.options)
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
