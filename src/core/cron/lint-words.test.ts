import { assert, describe, test } from "vitest"
import { lintTexts, NOW } from "../../../test/support/lint-texts.ts"
import { DAY, LATEST } from "../time/instant.ts"
import type { CronOptions } from "./cron.ts"
import { lintZone } from "./lint-zone.ts"

describe("L01, a step that doesn't divide its field evenly", () => {
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
  ])("the lint of %s is: %s", (cron, words) => {
    assert.deepEqual(lintTexts(cron), [words])
  })

  test("the fix for a step of seconds is an interval", () => {
    assert.equal(lintTexts("*/25 * * * * *")[0], `${SECONDS} → every 25s`)
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
    [
      "*/90 9 * * *",
      'L01 warn: Minute "*/90" starts again each hour: from minute 0 to minute 0 it is 60 minutes, not 90.',
    ],
  ])("%s can't be written as an interval, so no fix is proposed", (cron, words) => {
    assert.deepEqual(lintTexts(cron), [words])
  })

  test.each(["7/7 * * * *", "*/45,5 * * * *", "0 1/2 * * *", "0 0 * * 0-7/7"])(
    "%s, which starts at its step, divides evenly or is a list, has no L01",
    (cron) => {
      assert.deepEqual(lintTexts(cron), [])
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
  ["0 0 30-31 2,4 *", "30 in February", ""],
  ["0 0 31,L-3 3,4 *", "31 in April", " → cron 0 0 L,L-3 3,4 *"],
])("L08 for %s names the missing day %s and proposes a fix if there is one%s", (cron, missing, fix) => {
  const message = `There is no day ${missing}: nothing runs for it then. L is the last day of any month.`

  assert.deepEqual(lintTexts(cron), [`L08 warn: ${message}${fix}`])
})

test.each([
  ["CET", "Europe/Brussels"],
  ["EST", "America/Panama"],
  ["EST5EDT", "America/New_York"],
  ["UCT", "UTC"],
  ["GMT0", "UTC"],
  ["Etc/GMT+0", "UTC"],
  ["etc/gmt-0", "UTC"],
])("L09 for the abbreviation %s proposes the zone %s", (timezone, today) => {
  assert.deepEqual(lintTexts("0 12 * * *", { options: { timezone } }), [
    `L09 warn: Time zone "${timezone}" is an ambiguous abbreviation. Belfry reads it as ${today}. ` +
      `Use the name of a place. → timezone ${today}`,
  ])
})

test("L09 explains that a zone ahead of UTC has a minus in its name", () => {
  assert.deepEqual(lintTexts("0 12 * * *", { options: { timezone: "Etc/GMT-14" } }), [
    'L09 warn: Time zone "Etc/GMT-14" is 14 h ahead of UTC all year (its sign is inverted) and has no summer time. To follow local time, use the name of a place.',
  ])
})

test.each(["America/Etc/GMT+5", "Etc/GMT+500", "Etc/GMT+5/Lima"])(
  "the zone name %s isn't a fixed offset",
  (name) => {
    assert.isNull(lintZone(name))
  },
)

test.each([
  ["@every 2000d", NOW, "Tue 8 Jul 2031"],
  ["0 0 1 1 *", LATEST - DAY, "never again"],
])("L03 says that %s doesn't run within five years", (cron, now, next) => {
  assert.deepEqual(lintTexts(cron, { now }), [`L03 error: Doesn't run within five years. Next: ${next}.`])
})

test("an occurrence exactly five years ahead has no L03", () => {
  assert.deepEqual(lintTexts("@every 157788000s"), [])
})

test("the dates of a message are in the time zone of the cron", () => {
  assert.include(
    lintTexts("0 0 29 2 +MON", { options: { timezone: "Asia/Tokyo" } }),
    "L03 error: Doesn't run within five years. Next: Mon 29 Feb 2044.",
  )
})

test("lints are sorted by code, whatever facts they come from", () => {
  assert.deepEqual(
    lintTexts("*/30 * * * * *", { facts: { runsLeft: 1 } }).map((words) => words.slice(0, 3)),
    ["L10", "L11"],
  )
})

test("L02 names a day with two occurrences in its last hour once", () => {
  assert.match(
    lintTexts("0,30 23 1-7 * +MON")[0]!,
    / Next: Mon 2 Feb 2026, Mon 2 Mar 2026, Mon 6 Apr 2026, Mon 4 May 2026 and Mon 1 Jun 2026\.$/,
  )
})

test("L02 names no days if none comes again", () => {
  assert.equal(
    lintTexts("0 9 1-7 * +1", { now: LATEST - DAY })[0],
    'L02 info: The cron occurs only on days that match both the day of month "1-7" and the day of week "1".',
  )
})

const IN_BERLIN = { timezone: "Europe/Berlin" }

test("L04 doesn't count a time right after the gap as skipped", () => {
  assert.match(
    lintTexts("0 2,3 * * *", { options: IN_BERLIN })[0]!,
    /^L04 warn: 02:00 is skipped by the clock on /,
  )
})

test("L04 and L05 look two years ahead, and not beyond year 9999", () => {
  const lastDay = { options: IN_BERLIN, now: LATEST - DAY }

  // The next change on a 30 March is in 2031.
  assert.deepEqual(lintTexts("30 2 30 3 *", { options: IN_BERLIN }), [])
  assert.deepEqual(lintTexts("30 2 * * *", lastDay), [])
})

test("L05 names the first of several repeated times and says which time runs", () => {
  const options: CronOptions = { ...IN_BERLIN, dst: { overlap: "second" } }

  assert.equal(
    lintTexts("0,30 2 * * *", { options })[1],
    "L05 warn: 02:00, with later times, is shown twice by the clock on Sun 25 Oct 2026 in Europe/Berlin, 03:00 back to 02:00: it runs the second time only (overlap: second).",
  )
})
