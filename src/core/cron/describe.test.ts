import { describe, expect, test } from "vitest"
import { describeCron } from "./describe.ts"
import { parseCron } from "./parse.ts"

type Row = readonly [expression: string, sentence: string]

const EVEN: readonly Row[] = [
  ["* * * * *", "Every minute"],
  ["*/1 * * * *", "Every minute"],
  ["*/15 * * * *", "Every 15 minutes"],
  ["0,15,30,45 * * * *", "Every 15 minutes"],
  ["0-59/20 * * * *", "Every 20 minutes"],
  ["0 * * * *", "Every hour"],
  ["*/60 * * * *", "Every hour"],
  ["0 */6 * * *", "Every 6 hours"],
  ["0 */4 * * 1", "Every 4 hours on Monday"],
  ["* * * * * *", "Every second"],
  ["*/15 * * * * *", "Every 15 seconds"],
  ["0 */5 * * * *", "Every 5 minutes"],
]

const UNEVEN: readonly Row[] = [
  ["*/7 * * * *", "Every 7 minutes from minute 0 through 56 of every hour"],
  ["*/13 * * * *", "At minutes 0, 13, 26, 39 and 52 past every hour"],
  ["*/40 * * * *", "At minutes 0 and 40 past every hour"],
  ["0 */5 * * *", "At 00:00, 05:00, 10:00, 15:00 and 20:00 every day"],
  ["0 */24 * * *", "At 00:00 every day"],
  ["*/7 * * * * *", "Every 7 seconds from second 0 through 56 of every minute"],
]

const TIMES: readonly Row[] = [
  ["30 2 * * *", "At 02:30 every day"],
  ["0 9 * * 1", "At 09:00 on Monday"],
  ["0 9,12,18 * * 1-5", "At 09:00, 12:00 and 18:00 on Monday through Friday"],
  ["0,30 9,17 * * *", "At 09:00, 09:30, 17:00 and 17:30 every day"],
  ["30 0 9 * * *", "At 09:00:30 every day"],
  ["0,30 0 9 * * *", "At 09:00:00 and 09:00:30 every day"],
  ["0 */6 * * 1", "At 00:00, 06:00, 12:00 and 18:00 on Monday"],
  ["0 8,9,10,12,13,15,17,18 * * *", "At 08:00, 09:00, 10:00, 12:00, 13:00, 15:00, 17:00 and 18:00 every day"],
  ["5 * * * *", "At minute 5 past every hour"],
  ["5,35 * * * *", "At minutes 5 and 35 past every hour"],
  ["5/15 * * * *", "At minutes 5, 20, 35 and 50 past every hour"],
  ["30 * * * * *", "At second 30 of every minute"],
  ["10,40 * * * * *", "At seconds 10 and 40 of every minute"],
  ["30 5 * * * *", "At second 30 of minute 5 of every hour"],
]

const RANGES: readonly Row[] = [
  ["0-29 * * * *", "Every minute from minute 0 through 29 of every hour"],
  ["5-10 9 * * *", "Every minute from 09:05 through 09:10 every day"],
  ["* 9-17 * * *", "Every minute from 09:00 through 17:59 every day"],
  ["*/15 9-17 * * 1-5", "Every 15 minutes from 09:00 through 17:45 on Monday through Friday"],
  ["5/10 5 9 * * *", "Every 10 seconds from 09:05:05 through 09:05:55 every day"],
  ["*/30 0 9-17 * * *", "Every 30 seconds during minute 0 of hours 9 through 17 every day"],
  ["*/10 * 9,12 * * *", "Every 10 seconds during every minute of hours 9 and 12 every day"],
  ["5-55/10 9,12 * * *", "Every 10 minutes from minute 5 through 55 of hours 9 and 12 every day"],
  ["* */3 * * *", "Every minute during every 3rd hour from hour 0 through 21 every day"],
  ["* */4 * * *", "Every minute during every 4th hour from hour 0 through 20 every day"],
  ["0 9-17 * * MON-FRI", "Every hour from 09:00 through 17:00 on Monday through Friday"],
  ["30 */2 * * *", "Every 2 hours from 00:30 through 22:30 every day"],
  ["0 1/2 * * *", "Every 2 hours from 01:00 through 23:00 every day"],
  ["*/5 9,17 * * *", "Every 5 minutes during hours 9 and 17 every day"],
  ["*/7 9-17 * * *", "Every 7 minutes from minute 0 through 56 of hours 9 through 17 every day"],
  ["* */2 * * *", "Every minute during every 2nd hour from hour 0 through 22 every day"],
  ["*/10 5 * * * *", "Every 10 seconds during minute 5 of every hour"],
  ["*/10 */2 * * * *", "Every 10 seconds during every 2nd minute from minute 0 through 58 of every hour"],
  ["* * 9-17 * * *", "Every second from 09:00:00 through 17:59:59 every day"],
]

const DATES: readonly Row[] = [
  ["0 0 1 * *", "At 00:00 on day 1 of the month"],
  ["0 0 1-7 * *", "At 00:00 on days 1 through 7 of the month"],
  ["0 0 1,15 * *", "At 00:00 on days 1 and 15 of the month"],
  ["0 0 10-20,25 * *", "At 00:00 on days 10 through 20 and 25 of the month"],
  ["0 0 */2 * *", "At 00:00 on every second day of the month from day 1"],
  ["0 0 1-15/2 * *", "At 00:00 on every second day of the month from day 1 through 15"],
  ["0 0 1-30/5 * *", "At 00:00 on every fifth day of the month from day 1 through 26"],
  ["0 0 */5 * *", "At 00:00 on every fifth day of the month from day 1"],
  ["0 0 */10 * *", "At 00:00 on days 1, 11, 21 and 31 of the month"],
  ["0 0 L * *", "At 00:00 on the last day of the month"],
  ["0 0 L-1 * *", "At 00:00 on the day before the last day of the month"],
  ["0 0 L-3 * *", "At 00:00 on the third day before the last day of the month"],
  ["0 0 LW * *", "At 00:00 on the last weekday of the month"],
  ["0 0 L-3W * *", "At 00:00 on the weekday nearest the third day before the last day of the month"],
  ["0 0 15W * *", "At 00:00 on the weekday nearest day 15 of the month"],
  ["0 0 1,15W,L * *", "At 00:00 on day 1, the weekday nearest day 15 and the last day of the month"],
  ["0 0 1-3,7,L * *", "At 00:00 on days 1 through 3, day 7 and the last day of the month"],
  ["0 0 1,5,9,20,L * *", "At 00:00 on day 1, day 5, day 9, day 20 and the last day of the month"],
  ["0 0 1,5,9,20,22,L * *", "At 00:00 on days 1, 5, 9, 20 and 22 and the last day of the month"],
  ["0 0 */2,L * *", "At 00:00 on every second day from day 1 and the last day of the month"],
  ["0 0 ? * ?", "At 00:00 every day"],
]

const MONTHS: readonly Row[] = [
  ["0 0 * 1,7 *", "At 00:00 every day in January and July"],
  ["0 0 * JUN-AUG *", "At 00:00 every day in June through August"],
  ["0 0 1 */3 *", "At 00:00 on day 1 of January, April, July and October"],
  ["*/15 * * 12 *", "Every 15 minutes in December"],
  ["0 9 * 11 THU#4", "At 09:00 on the fourth Thursday of November"],
  ["0 9 * 11 MON", "At 09:00 on Monday in November"],
]

const WEEKDAYS: readonly Row[] = [
  ["0 9 * * 0", "At 09:00 on Sunday"],
  ["0 9 * * 7", "At 09:00 on Sunday"],
  ["0 9 * * mon,wed,fri", "At 09:00 on Monday, Wednesday and Friday"],
  ["0 9 * * FRI-SUN", "At 09:00 on Friday through Sunday"],
  ["0 9 * * SUN-THU", "At 09:00 on Sunday through Thursday"],
  ["0 9 * * 6,0,1", "At 09:00 on Saturday through Monday"],
  ["0 9 * * 6,0,1,2", "At 09:00 on Saturday through Tuesday"],
  ["0 9 * * SUN,MON", "At 09:00 on Monday and Sunday"],
  ["0 9 * * 0,6", "At 09:00 on Saturday and Sunday"],
  ["0 9 * * */2", "At 09:00 on Tuesday, Thursday, Saturday and Sunday"],
  ["0 9 * * FRI#3", "At 09:00 on the third Friday of the month"],
  ["0 9 * * FRIL", "At 09:00 on the last Friday of the month"],
  ["0 9 * * MON,FRI#L", "At 09:00 on Monday and the last Friday of the month"],
]

const BOTH_DAY_FIELDS: readonly Row[] = [
  ["0 9 1 * 1", "At 09:00 on day 1 of the month or on Monday"],
  ["0 9 1 1 1", "At 09:00 on day 1 of the month or on Monday, in January"],
  ["0 9 L * FRI#3", "At 09:00 on the last day of the month or on the third Friday of the month"],
  ["0 9 13 * +5", "At 09:00 on day 13 of the month if it is also a Friday"],
  ["0 9 1 * +MON#1", "At 09:00 on day 1 of the month if it is also the first Monday of the month"],
  ["0 9 1-7 * +1,3", "At 09:00 on days 1 through 7 of the month if it is also a Monday or a Wednesday"],
  [
    "0 9 1-7 1 +1-5",
    "At 09:00 on days 1 through 7 of January if it is also a day from Monday through Friday",
  ],
  ["0 9 */1 * 1", "At 09:00 every day"],
  ["0 9 1 * 0-6", "At 09:00 every day"],
  ["0 9 1-31 * +1", "At 09:00 on Monday"],
]

const DESCRIPTORS: readonly Row[] = [
  ["@hourly", "Every hour"],
  ["@daily", "At 00:00 every day"],
  ["@midnight", "At 00:00 every day"],
  ["@weekly", "At 00:00 on Sunday"],
  ["@monthly", "At 00:00 on day 1 of the month"],
  ["@yearly", "At 00:00 on day 1 of January"],
  ["@annually", "At 00:00 on day 1 of January"],
  ["@every 90s", "Every 90 seconds"],
  ["@every 1.5s", "Every 1.5 seconds"],
  ["@every 90m", "Every 90 minutes"],
  ["@every 1h", "Every hour"],
  ["@every 1d", "Every 24 hours"],
  ["@every 7d", "Every 7 days of 24 hours"],
  ["@every 49h30m", "Every 49 hours and 30 minutes"],
  ["@every 1h30m1s", "Every 1 hour, 30 minutes and 1 second"],
]

const LONG_LISTS: readonly Row[] = [
  ["1,3,6,9,12,16,20,25 * * * *", "At minutes 1, 3, 6, 9, 12, 16, 20 and 25 past every hour"],
  ["1,2,4,8,16,22,27,31,40,55 * * * *", "At minutes 1, 2, 4, 8, 16, 22 and 4 more past every hour"],
  [
    "15 1-3,5,7,9,11,13,17,19,23 * * *",
    "At minute 15 past hours 1 through 3, 5, 7, 9, 11, 13 and 3 more every day",
  ],
]

describe.each([
  ["even intervals from midnight to midnight are described by their length", EVEN],
  ["a step that doesn't divide its field evenly is never described as every N", UNEVEN],
  ["a few times are described one by one", TIMES],
  ["a range of even intervals is described with its first and last time", RANGES],
  ["days of the month", DATES],
  ["months", MONTHS],
  ["days of the week", WEEKDAYS],
  ["two day fields are described with whether one or both must match", BOTH_DAY_FIELDS],
  ["a descriptor is described by its meaning", DESCRIPTORS],
  ["a long list ends with the number of further values", LONG_LISTS],
])("%s", (_rule, rows) => {
  test.each(rows)("%s is described as: %s", (expression, sentence) => {
    expect(describeCron(parseCron(expression))).toBe(sentence)
  })
})

test.each([
  ...([
    ["4", "fourth"],
    ["5", "fifth"],
    ["6", "sixth"],
    ["7", "seventh"],
    ["8", "eighth"],
  ] as const),
  ...([
    ["9", "ninth"],
    ["10", "tenth"],
    ["11", "11th"],
    ["12", "12th"],
    ["13", "13th"],
  ] as const),
  ...([
    ["14", "14th"],
    ["20", "20th"],
    ["21", "21st"],
    ["22", "22nd"],
    ["23", "23rd"],
    ["24", "24th"],
  ] as const),
])("L-%s is described as the %s day before the last", (days, ordinal) => {
  expect(sentenceOf(`0 0 L-${days} * *`)).toBe(
    `At 00:00 on the ${ordinal} day before the last day of the month`,
  )
})

test("H is described by the values that its seed chose", () => {
  const options = { seed: "nightly" }

  expect(describeCron(parseCron("H H * * *", options))).toBe("At 19:44 every day")
  expect(describeCron(parseCron("H/15 * * * *", options))).toBe(
    "At minutes 14, 29, 44 and 59 past every hour",
  )
  expect(describeCron(parseCron("H/5 * * * *", options))).toBe(
    "Every 5 minutes from minute 4 through 59 of every hour",
  )
})

test("the option dayMatch both is described like the plus sign", () => {
  const byOption = describeCron(parseCron("0 9 13 * 5", { dayMatch: "both" }))

  expect(byOption).toBe(describeCron(parseCron("0 9 13 * +5")))
})

test("0-23 in the hour field means fixed times, some of which clock changes skip, and isn't described as every hour", () => {
  expect(describeCron(parseCron("0 0-23 * * *"))).toBe("Every hour from 00:00 through 23:00 every day")
})

test("the description doesn't depend on the time zone", () => {
  const inBerlin = describeCron(parseCron("30 2 * * *", { timezone: "Europe/Berlin" }))

  expect(inBerlin).toBe(describeCron(parseCron("30 2 * * *")))
})

function sentenceOf(expression: string): string {
  return describeCron(parseCron(expression))
}
