import { assert, test } from "vitest"
import type { CalendarCron, CronOptions } from "./cron.ts"
import type { FieldName, Item } from "./field.ts"
import { parseCron } from "./parse.ts"

const MONTHS = "JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC"

const VALUES: readonly (readonly [title: string, expression: string, field: FieldName, values: number[]])[] =
  [
    ["a value", "5 * * * *", "minute", [5]],
    ["leading zeros", "05 007 * * *", "hour", [7]],
    ["a list in any order with duplicates", "30,10,10,20 * * * *", "minute", [10, 20, 30]],
    ["a range", "10-13 * * * *", "minute", [10, 11, 12, 13]],
    ["a range of one", "10-10 * * * *", "minute", [10]],
    ["a stepped range", "10-20/4 * * * *", "minute", [10, 14, 18]],
    ["a step larger than its range", "10-12/50 * * * *", "minute", [10]],
    ["steps over the whole field", "*/20 * * * *", "minute", [0, 20, 40]],
    ["steps over the whole field, from its minimum", "0 0 */10 * *", "dayOfMonth", [1, 11, 21, 31]],
    ["a step as long as the field", "*/60 * * * *", "minute", [0]],
    ["a start and a step", "5/20 * * * *", "minute", [5, 25, 45]],
    ["a start and a step to the last month", "0 0 1 3/4 *", "month", [3, 7, 11]],
    ["ranges, steps and values together", "1,5-7,50/5 * * * *", "minute", [1, 5, 6, 7, 50, 55]],
    ["a star inside a list", "0 0 1 3,* *", "month", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
    ["seconds, as the first of six fields", "*/15 0 0 * * *", "second", [0, 15, 30, 45]],
    ["second 0, when there are five fields", "* * * * *", "second", [0]],
    ["the last hour", "0 23 * * *", "hour", [23]],
    ["names of months in any case", "0 0 1 jan,Jun,DEC *", "month", [1, 6, 12]],
    ["all months by name", `0 0 1 ${MONTHS} *`, "month", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
    ["a range of named months", "0 0 1 FEB-APR *", "month", [2, 3, 4]],
    ["a named start and a step", "0 0 1 MAR/3 *", "month", [3, 6, 9, 12]],
    ["a name and a number", "0 0 1 FEB-4 *", "month", [2, 3, 4]],
    ["names of weekdays in any case", "0 0 * * mon,Wed,FRI", "dayOfWeek", [1, 3, 5]],
    ["all weekdays by name", "0 0 * * SUN,MON,TUE,WED,THU,FRI,SAT", "dayOfWeek", [0, 1, 2, 3, 4, 5, 6]],
    ["0 for Sunday", "0 0 * * 0", "dayOfWeek", [0]],
    ["7 for Sunday", "0 0 * * 7", "dayOfWeek", [0]],
    ["0 and 7 for one Sunday", "0 0 * * 0,7", "dayOfWeek", [0]],
    ["a range up to Sunday", "0 0 * * 5-7", "dayOfWeek", [0, 5, 6]],
    ["a range of names up to Sunday", "0 0 * * FRI-SUN", "dayOfWeek", [0, 5, 6]],
    ["a stepped range of names up to Sunday", "0 0 * * mon-sun/2", "dayOfWeek", [0, 1, 3, 5]],
    ["Sunday to Sunday", "0 0 * * SUN-SUN", "dayOfWeek", [0]],
    ["the whole week with Sunday twice", "0 0 * * 0-7", "dayOfWeek", [0, 1, 2, 3, 4, 5, 6]],
    ["every other weekday, Sunday counted once", "0 0 * * */2", "dayOfWeek", [0, 2, 4, 6]],
    ["a start and a step, to Saturday", "0 0 * * 1/2", "dayOfWeek", [1, 3, 5]],
    ["a step from Sunday as 7", "0 0 * * 7/2", "dayOfWeek", [0]],
    ["a step longer than the field", "*/90 * * * *", "minute", [0]],
    ["the longest step", "*/9999 * * * *", "minute", [0]],
    ["a step beyond the end of the field", "50/30 * * * *", "minute", [50]],
    ["a step of a whole week", "0 0 * * */7", "dayOfWeek", [0]],
    ["a question mark in a day field", "0 0 ? * 1", "dayOfWeek", [1]],
    ["tabs and line ends between fields", " 1\t2\r\n3  4 *  ", "month", [4]],
    ["a plus before the weekday", "0 0 1 * +MON", "dayOfWeek", [1]],
  ]

for (const [title, expression, field, values] of VALUES) {
  test(`the field ${field} accepts ${title}: ${JSON.stringify(expression)}`, () => {
    assert.deepEqual(calendar(expression)[field].values, values)
  })
}

test.each<[string, Item]>([
  ["L", { kind: "last", daysBefore: 0, nearestWeekday: false }],
  ["l", { kind: "last", daysBefore: 0, nearestWeekday: false }],
  ["L-3", { kind: "last", daysBefore: 3, nearestWeekday: false }],
  ["L-30", { kind: "last", daysBefore: 30, nearestWeekday: false }],
  ["LW", { kind: "last", daysBefore: 0, nearestWeekday: true }],
  ["L-3W", { kind: "last", daysBefore: 3, nearestWeekday: true }],
  ["15W", { kind: "nearestWeekday", day: 15 }],
  ["1w", { kind: "nearestWeekday", day: 1 }],
])("%s is parsed as a day of the month", (text, item) => {
  assert.deepEqual(calendar(`0 0 ${text} * *`).dayOfMonth.items[0], item)
})

test.each<[string, Item]>([
  ["FRI#3", { kind: "nthWeekday", weekday: 5, nth: 3 }],
  ["fri#3", { kind: "nthWeekday", weekday: 5, nth: 3 }],
  ["5#5", { kind: "nthWeekday", weekday: 5, nth: 5 }],
  ["7#1", { kind: "nthWeekday", weekday: 0, nth: 1 }],
  ["5L", { kind: "nthWeekday", weekday: 5, nth: null }],
  ["FRIL", { kind: "nthWeekday", weekday: 5, nth: null }],
  ["7L", { kind: "nthWeekday", weekday: 0, nth: null }],
  ["MON#L", { kind: "nthWeekday", weekday: 1, nth: null }],
])("%s is parsed as a weekday of the month", (text, item) => {
  assert.deepEqual(calendar(`0 0 * * ${text}`).dayOfWeek.items[0], item)
})

test.each<[string, Item]>([
  ["*/20", { kind: "range", from: 0, to: 59, step: 20, isOpen: true }],
  ["5/20", { kind: "range", from: 5, to: 59, step: 20, isOpen: true }],
  ["5-45/20", { kind: "range", from: 5, to: 45, step: 20, isOpen: false }],
  ["H(5-5)/20", { kind: "range", from: 5, to: 5, step: 20, isOpen: false }],
])("%s is open if only the end of the field ends its steps", (text, item) => {
  assert.deepEqual(calendar(`${text} * * * *`).minute.items, [item])
})

test("a list may contain special days and plain days", () => {
  const cron = calendar("0 0 1,15W,L * 2,FRI#3")

  assert.deepEqual(
    cron.dayOfMonth.items.map((item) => item.kind),
    ["value", "nearestWeekday", "last"],
  )
  assert.deepEqual(cron.dayOfMonth.values, [1])
  assert.deepEqual(cron.dayOfWeek.values, [2])
})

test.each([
  ["@hourly", "0 * * * *"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@weekly", "0 0 * * 0"],
  ["@monthly", "0 0 1 * *"],
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  [" @DAILY ", "0 0 * * *"],
])("the descriptor %s stands for %s", (descriptor, meant) => {
  const { expression, ...rest } = calendar(descriptor)

  assert.equal(expression, descriptor)
  assert.deepEqual(rest, withoutExpression(calendar(meant)))
})

test.each([
  ["@every 90s", 90_000],
  ["@every 1h30m", 5_400_000],
  ["@every PT15M", 900_000],
  ["@EVERY 1s", 1_000],
])("%s is parsed as an interval", (expression, everyMs) => {
  assert.deepEqual(parseCron(expression), { kind: "interval", expression, everyMs, anchor: null })
  assert.deepInclude(parseCron(expression, { anchor: 5 }), { anchor: 5 })
})

test.each([
  ["0 2 * * *", true],
  ["0,30 2 * * *", true],
  ["0-30/10 1-3 * * *", true],
  ["H H * * *", true],
  ["0/15 2 * * *", true],
  ["*/5 0 2 * * *", true],
  ["* 2 * * *", false],
  ["*/15 2 * * *", false],
  ["0 * * * *", false],
  ["0 */2 * * *", false],
  ["0 0 * * * *", false],
])("%s has fixed times if neither its minute nor its hour begins with a star: %s", (text, isFixedTime) => {
  assert.equal(calendar(text).isFixedTime, isFixedTime)
})

test.each([
  ["0 0 * * *", true, true],
  ["0 0 ? * ?", true, true],
  ["0 0 */1 * *", false, true],
  ["0 0 1-31 * *", false, true],
  ["0 0 *,1 * 0-7", false, false],
])("in %s only a bare star or question mark leaves a day field unset", (text, anyDay, anyWeekday) => {
  const cron = calendar(text)

  assert.deepEqual([cron.dayOfMonth.isAny, cron.dayOfWeek.isAny], [anyDay, anyWeekday])
})

test("an expression of five fields has second 0", () => {
  assert.deepEqual(calendar("5 * * * *").second, calendar("0 5 * * * *").second)
})

test("dayMatch is both with the option or a plus sign, and either by default", () => {
  assert.equal(calendar("0 0 13 * FRI").dayMatch, "either")
  assert.equal(calendar("0 0 13 * +FRI").dayMatch, "both")
  assert.equal(calendar("0 0 13 * FRI", { dayMatch: "both" }).dayMatch, "both")
})

test("the seed chooses the value of H, always the same and within the field", () => {
  const chosen = Array.from({ length: 1_000 }, (_, seed) =>
    calendar("H H(9-16) H H H", { seed: `schedule-${seed}` }),
  )
  const valuesOf = (field: FieldName) =>
    [...new Set(chosen.map((cron) => cron[field].values[0]!))].sort((a, b) => a - b)

  assert.deepEqual(valuesOf("minute"), upTo(0, 59))
  assert.deepEqual(valuesOf("hour"), upTo(9, 16))
  assert.deepEqual(valuesOf("dayOfMonth"), upTo(1, 28))
  assert.deepEqual(valuesOf("month"), upTo(1, 12))
  assert.deepEqual(valuesOf("dayOfWeek"), upTo(0, 6))
  assert.deepEqual(calendar("H H(9-16) H H H", { seed: "schedule-7" }), chosen[7])
  assert.deepEqual(calendar("H H H H H"), calendar("H H H H H", { seed: "" }))
})

test("H with a step longer than its range is one value of that range", () => {
  const chosen = upTo(0, 49).map(
    (seed) => calendar("H(30-34)/50 * * * *", { seed: String(seed) }).minute.values,
  )

  assert.deepEqual([...new Set(chosen.flat())].sort(), upTo(30, 34))
  assert.isTrue(chosen.every((values) => values.length === 1))
})

test("H with a step begins at a value chosen by the seed and continues in steps", () => {
  for (let seed = 0; seed < 50; seed++) {
    const { values } = calendar("H/15 * * * *", { seed: String(seed) }).minute
    assert.isBelow(values[0]!, 15)
    assert.deepEqual(
      values,
      [0, 15, 30, 45].map((minute) => minute + values[0]!),
    )
    const inRange = calendar("H(30-49)/10 * * * *", { seed: String(seed) }).minute.values
    assert.isTrue(inRange[0]! >= 30 && inRange[0]! < 40)
    assert.deepEqual(inRange, [inRange[0]!, inRange[0]! + 10])
  }
})

function calendar(expression: string, options: CronOptions = {}): CalendarCron {
  const cron = parseCron(expression, options)
  if (cron.kind !== "calendar") throw new Error(`${expression} is an interval`)
  return cron
}

function upTo(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

function withoutExpression({ expression: _, ...rest }: CalendarCron): Omit<CalendarCron, "expression"> {
  return rest
}
