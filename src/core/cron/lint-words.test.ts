import { assert, describe, test } from "vitest"
import { DAY, HOUR, LATEST, MINUTE } from "../instant.ts"
import type { CronOptions } from "./cron.ts"
import { type Lint, type LintFacts, lintCron } from "./lint.ts"
import { parseCron } from "./parse.ts"

/** A Thursday. */
const NOW = Date.UTC(2026, 0, 15)

interface About {
  readonly options?: CronOptions
  readonly facts?: LintFacts
  readonly now?: number
}

/** `L01 warn: …`, with the fix behind an arrow if there is one. */
function told(cron: string, { options, facts, now = NOW }: About = {}): readonly string[] {
  const words = ({ code, severity, message, fix }: Lint) =>
    `${code} ${severity}: ${message}${fix === undefined ? "" : ` → ${fix.option} ${fix.value}`}`
  return lintCron(parseCron(cron, options), now, facts).map(words)
}

describe("a step that doesn't come out even is told with its field", () => {
  const MINUTES =
    'L01 warn: Minute "*/7" starts again each hour: from minute 56 to minute 0 it is 4 minutes, not 7.'
  const HOURS = 'L01 warn: Hour "*/5" starts again each day: from hour 20 to hour 0 it is 4 hours, not 5.'
  const SECONDS =
    'L01 warn: Second "*/25" starts again each minute: from second 50 to second 0 it is 10 seconds, not 25.'

  test.each([
    ["*/7 * * * *", `${MINUTES} → every 7m`],
    ["30 */7 * * * *", `${MINUTES} → every 7m`],
    ["0 */5 * * *", `${HOURS} → every 5h`],
    ["30 0 */5 * * *", `${HOURS} → every 5h`],
    [
      "0 0 */2 * *",
      'L01 warn: Day of month "*/2" starts again each month: from day 31 to day 1 it is 1 day in a month of 31 days, not 2.',
    ],
    [
      "0 0 1 */5 *",
      'L01 warn: Month "*/5" starts again each year: from month 11 to month 1 it is 2 months, not 5.',
    ],
    [
      "0 0 * * */2",
      'L01 warn: Day of week "*/2" starts again each week: from weekday 6 to weekday 0 it is 1 day, not 2.',
    ],
    [
      "3/7 * * * *",
      'L01 warn: Minute "3/7" starts again each hour: from minute 59 to minute 3 it is 4 minutes, not 7. → every 7m',
    ],
    [
      "*/90 * * * *",
      'L01 warn: Minute "*/90" starts again each hour: from minute 0 to minute 0 it is 60 minutes, not 90. → every 90m',
    ],
  ])("%s: %s", (cron, words) => {
    assert.deepEqual(told(cron), [words])
  })

  test("with seconds, an interval is proposed, too", () => {
    assert.equal(told("*/25 * * * * *")[0], `${SECONDS} → every 25s`)
  })

  test.each([
    ["*/25 5 * * * *", SECONDS],
    ["*/25 * 5 * * *", SECONDS],
    ["0,30 */7 * * * *", MINUTES],
    ["0 */7 9 * * *", MINUTES],
    ["*/7 * 1 * *", MINUTES],
    ["*/7 * * 1 *", MINUTES],
    ["*/7 * * * 1", MINUTES],
    ["0,30 */5 * * *", HOURS],
  ])("%s asks for more than an interval can do: none is proposed", (cron, words) => {
    assert.deepEqual(told(cron), [words])
  })

  test.each(["7/7 * * * *", "*/45,5 * * * *", "0 1/2 * * *"])(
    "%s begins later than its step, comes out even, or is a list: nothing is told",
    (cron) => {
      assert.deepEqual(told(cron), [])
    },
  )
})

test.each([
  ["0 0 29 * *", "29 in February outside leap years", ""],
  ["0 0 29 2 *", "29 in February outside leap years", " → cron 0 0 L 2 *"],
  ["0 0 29 2,4 *", "29 in February outside leap years", ""],
  ["0 0 29-31 * *", "29 in February outside leap years", ""],
  ["0 0 30 * *", "30 in February", ""],
  ["0 0 30 2,4,6 *", "30 in February", " → cron 0 0 L 2,4,6 *"],
  ["0 0 31W * *", "31 in February, April, June, September and November", " → cron 0 0 LW * *"],
  ["0 0 31 3,4 *", "31 in April", " → cron 0 0 L 3,4 *"],
])("%s: there is no day %s%s", (cron, missing, fix) => {
  const message = `There is no day ${missing}: nothing runs for it then. L is the last day of any month.`

  assert.deepEqual(told(cron), [`L08 warn: ${message}${fix}`])
})

test.each<[string, string, string]>([
  ["CET", "Europe/Brussels", "is an abbreviation, which people read differently"],
  ["EST5EDT", "America/New_York", "is an abbreviation, which people read differently"],
  ["etc/gmt-0", "UTC", "is an abbreviation, which people read differently"],
])("zone %s is the clock of %s, and %s", (timezone, today, why) => {
  assert.deepEqual(told("0 12 * * *", { options: { timezone } }), [
    `L09 warn: Time zone "${timezone}" ${why}; here it is the clock of ${today}. Name the place you mean. → timezone ${today}`,
  ])
})

test("a zone that is ahead of UTC has a minus in its name", () => {
  assert.deepEqual(told("0 12 * * *", { options: { timezone: "Etc/GMT-14" } }), [
    'L09 warn: Time zone "Etc/GMT-14" is 14 h ahead of UTC all year (its sign is turned round) and has no summer time. Name a place if you mean one.',
  ])
})

test.each([
  ["@every 2000d", NOW, "Tue 8 Jul 2031"],
  ["0 0 1 1 *", LATEST - DAY, "never again"],
])("%s doesn't run within five years", (cron, now, next) => {
  assert.deepEqual(told(cron, { now }), [`L03 error: Doesn't run within five years. Next: ${next}.`])
})

test("of days that never come again none is named", () => {
  assert.equal(
    told("0 9 1-7 * +1", { now: LATEST - DAY })[0],
    'L02 info: A day must match both day of month "1-7" and day of week "1".',
  )
})

const IN_BERLIN = { timezone: "Europe/Berlin" }

test("several times that the clock shows twice are told as one, and which of them runs", () => {
  const options: CronOptions = { ...IN_BERLIN, dst: { overlap: "second" } }

  assert.equal(
    told("0,30 2 * * *", { options })[1],
    "L05 warn: 02:00, with later times, is shown twice by the clock on Sun 25 Oct 2026 in Europe/Berlin, 03:00 back to 02:00: it runs the second time only (overlap: second).",
  )
})

describe("what others know of the schedule", () => {
  const long = (p50Ms: number, p95Ms: number): LintFacts => ({ duration: { p50Ms, p95Ms, overlap: "skip" } })
  const slow = (takes: string, outcome: string) =>
    `L07 warn: One run in twenty takes longer than ${takes}, but the next is due after 5m and overlap is "skip": ${outcome}.`

  test.each<[string, LintFacts, string]>([
    [
      "*/5 * * * *",
      { sameMinute: { others: 10, freeMinute: 7 } },
      "L06 info: 10 other schedules start in the same minute. A jitter spreads them. → jitter 1m",
    ],
    [
      "0 2 * * *",
      { sameMinute: { others: 1_041 } },
      "L06 info: 1,041 other schedules start in the same minute. A jitter spreads them. → jitter 1m",
    ],
    [
      "@every 1h",
      { sameMinute: { others: 10, freeMinute: 7 } },
      "L06 info: 10 other schedules start in the same minute. A jitter spreads them. → jitter 1m",
    ],
    [
      "*/5 * * * *",
      long(5 * MINUTE, 6 * MINUTE),
      slow("6m", "a run that long makes the next occurrence be skipped"),
    ],
    [
      "*/5 * * * *",
      long(MINUTE, 12 * MINUTE),
      slow("12m", "a run that long makes the next 2 occurrences be skipped"),
    ],
    ["*/5 * * * *", long(6 * MINUTE, 12 * MINUTE), slow("12m", "about 1 in 2 occurrences will be skipped")],
    [
      "*/5 * * * *",
      { duration: { p95Ms: 6 * MINUTE, overlap: "skip" } },
      slow("6m", "a run that long makes the next occurrence be skipped"),
    ],
    [
      "@daily",
      { payloadProblem: "to: expected text" },
      "L10 error: The payload doesn't match the task's schema: to: expected text",
    ],
    [
      "@daily",
      { task: { name: "send", workersOnline: 0 } },
      'L11 warn: No worker that is online offers task "send": its runs will wait.',
    ],
    [
      "@daily",
      { catchUp: { windowMs: MINUTE, longestGapMs: HOUR } },
      "L13 warn: Nothing was fired for 1h lately, but an occurrence more than 1m late is dropped: after such a pause it is lost.",
    ],
    ["@daily", { until: NOW + 30 * DAY }, "L14 info: It ends within 30 days, at 2026-02-14T00:00:00Z."],
    ["@daily", { until: NOW }, "L14 info: It ends within 30 days, at 2026-01-15T00:00:00Z."],
    ["@daily", { until: NOW - 1 }, "L14 info: It ended at 2026-01-14T23:59:59.999Z."],
    ["@daily", { runsLeft: 30 }, "L14 info: It ends within 30 days, at 2026-02-14T00:00:00Z."],
    [
      "@daily",
      { until: NOW + DAY, runsLeft: 5 },
      "L14 info: It ends within 30 days, at 2026-01-16T00:00:00Z.",
    ],
  ])("%s with %j: %s", (cron, facts, words) => {
    assert.deepEqual(told(cron, { facts }), [words])
  })

  test("the shortest distance counts, wherever it lies", () => {
    const facts: LintFacts = { duration: { p95Ms: 31 * MINUTE, overlap: "skip" } }

    assert.match(told("0 9,12,18 * * *", { facts: long(0, 3 * HOUR + 1) })[0]!, /the next is due after 3h /)
    assert.deepEqual(told("0 9,12,18 * * *", { facts }), [])
  })

  test.each<[string, LintFacts]>([
    ["@daily", { until: NOW + 30 * DAY + 1 }],
    ["@daily", { runsLeft: 31 }],
    ["* * * * *", { runsLeft: 50_001 }],
    ["0 0 29 2 *", { runsLeft: 5 }],
  ])("%s with %j: nothing is told", (cron, facts) => {
    assert.deepEqual(
      told(cron, { facts }).filter((words) => words.startsWith("L14")),
      [],
    )
  })
})

describe("more than one run a minute", () => {
  const logs = (size: string) => `: about ${size} of logs in the next 30 days at their present size`

  test.each<[string, LintFacts, string]>([
    ["*/30 * * * * *", {}, "2,880 runs on each day it runs"],
    ["@every 7s", {}, "12,343 runs on each day it runs"],
    ["* * 9 * * 1", { logBytesPerRun: 100 }, `3,600 runs on each day it runs${logs("1.4 MiB")}`],
    ["* * * * * *", { logBytesPerRun: 100 }, `86,400 runs on each day it runs${logs("247 MiB")}`],
    ["* * * * * *", { logBytesPerRun: 0 }, `86,400 runs on each day it runs${logs("0 B")}`],
    ["* * * * * *", { logBytesPerRun: 1 / 2_592 }, `86,400 runs on each day it runs${logs("1000 B")}`],
    ["* * * * * *", { logBytesPerRun: 1e9 }, `86,400 runs on each day it runs${logs("2357 TiB")}`],
  ])("%s with %j: makes %s", (cron, facts, words) => {
    assert.deepEqual(told(cron, { facts }), [`L12 info: Makes ${words}.`])
  })
})
