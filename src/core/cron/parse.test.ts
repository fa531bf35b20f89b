import { assert, test } from "vitest"
import { BelfryError, type ErrorCode } from "../errors.ts"
import type { CalendarCron, CronOptions } from "./cron.ts"
import { EXPRESSION_MAX, parseCron } from "./parse.ts"

type FieldName = "second" | "minute" | "hour" | "dayOfMonth" | "month" | "dayOfWeek"

const VALUES: readonly (readonly [title: string, expression: string, field: FieldName, values: number[]])[] =
  [
    ["a value", "5 * * * *", "minute", [5]],
    ["leading zeros", "05 007 * * *", "hour", [7]],
    ["a list, in any order and with doubles", "30,10,10,20 * * * *", "minute", [10, 20, 30]],
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
    ["seconds, when there are six fields", "*/15 0 0 * * *", "second", [0, 15, 30, 45]],
    ["no seconds, when there are five", "* * * * *", "second", [0]],
    ["the last hour", "0 23 * * *", "hour", [23]],
    ["names of months in any case", "0 0 1 jan,Jun,DEC *", "month", [1, 6, 12]],
    ["a range of named months", "0 0 1 FEB-APR *", "month", [2, 3, 4]],
    ["a named start and a step", "0 0 1 MAR/3 *", "month", [3, 6, 9, 12]],
    ["a name and a number", "0 0 1 FEB-4 *", "month", [2, 3, 4]],
    ["names of weekdays in any case", "0 0 * * mon,Wed,FRI", "dayOfWeek", [1, 3, 5]],
    ["0 for Sunday", "0 0 * * 0", "dayOfWeek", [0]],
    ["7 for Sunday", "0 0 * * 7", "dayOfWeek", [0]],
    ["0 and 7 for one Sunday", "0 0 * * 0,7", "dayOfWeek", [0]],
    ["a range up to Sunday", "0 0 * * 5-7", "dayOfWeek", [0, 5, 6]],
    ["a range of names up to Sunday", "0 0 * * FRI-SUN", "dayOfWeek", [0, 5, 6]],
    ["a stepped range of names up to Sunday", "0 0 * * mon-sun/2", "dayOfWeek", [0, 1, 3, 5]],
    ["Sunday to Sunday", "0 0 * * SUN-SUN", "dayOfWeek", [0]],
    ["all the week, twice Sunday", "0 0 * * 0-7", "dayOfWeek", [0, 1, 2, 3, 4, 5, 6]],
    ["every other weekday, Sunday counted once", "0 0 * * */2", "dayOfWeek", [0, 2, 4, 6]],
    ["a start and a step to the second Sunday", "0 0 * * 1/3", "dayOfWeek", [0, 1, 4]],
    ["a whole week as step", "0 0 * * */7", "dayOfWeek", [0]],
    ["a question mark in a day field", "0 0 ? * 1", "dayOfWeek", [1]],
    ["tabs and line ends between fields", " 1\t2\r\n3  4 *  ", "month", [4]],
    ["a plus before the weekday", "0 0 1 * +MON", "dayOfWeek", [1]],
  ]

for (const [title, expression, field, values] of VALUES) {
  test(`${title}: ${JSON.stringify(expression)}`, () => {
    assert.deepEqual(calendar(expression)[field].values, values)
  })
}

test.each([
  ["L", { kind: "last", daysBefore: 0, nearestWeekday: false }],
  ["l", { kind: "last", daysBefore: 0, nearestWeekday: false }],
  ["L-3", { kind: "last", daysBefore: 3, nearestWeekday: false }],
  ["L-30", { kind: "last", daysBefore: 30, nearestWeekday: false }],
  ["LW", { kind: "last", daysBefore: 0, nearestWeekday: true }],
  ["L-3W", { kind: "last", daysBefore: 3, nearestWeekday: true }],
  ["15W", { kind: "nearestWeekday", day: 15 }],
  ["1w", { kind: "nearestWeekday", day: 1 }],
])("%s is a day of the month", (text, item) => {
  assert.deepEqual(calendar(`0 0 ${text} * *`).dayOfMonth.items[0], item)
})

test.each([
  ["FRI#3", { kind: "nthWeekday", weekday: 5, nth: 3 }],
  ["fri#3", { kind: "nthWeekday", weekday: 5, nth: 3 }],
  ["5#5", { kind: "nthWeekday", weekday: 5, nth: 5 }],
  ["7#1", { kind: "nthWeekday", weekday: 0, nth: 1 }],
  ["5L", { kind: "nthWeekday", weekday: 5, nth: null }],
  ["FRIL", { kind: "nthWeekday", weekday: 5, nth: null }],
  ["7L", { kind: "nthWeekday", weekday: 0, nth: null }],
  ["MON#L", { kind: "nthWeekday", weekday: 1, nth: null }],
])("%s is a weekday of the month", (text, item) => {
  assert.deepEqual(calendar(`0 0 * * ${text}`).dayOfWeek.items[0], item)
})

test("special days stand in lists beside plain ones", () => {
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
])("%s stands for %s", (descriptor, meant) => {
  const { expression, ...rest } = calendar(descriptor)

  assert.equal(expression, descriptor)
  assert.deepEqual(rest, withoutExpression(calendar(meant)))
})

test.each([
  ["@every 90s", 90_000],
  ["@every 1h30m", 5_400_000],
  ["@every PT15M", 900_000],
  ["@EVERY 1s", 1_000],
])("%s is an interval", (expression, everyMs) => {
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
])(
  "%s: a job is at fixed times if neither its minute nor its hour begins with a star: %s",
  (text, isFixedTime) => {
    assert.equal(calendar(text).isFixedTime, isFixedTime)
  },
)

test.each([
  ["0 0 * * *", true, true],
  ["0 0 ? * ?", true, true],
  ["0 0 */1 * *", false, true],
  ["0 0 1-31 * *", false, true],
  ["0 0 *,1 * 0-7", false, false],
])("%s: only a bare star or question mark leaves a day field unset", (text, anyDay, anyWeekday) => {
  const cron = calendar(text)

  assert.deepEqual([cron.dayOfMonth.isAny, cron.dayOfWeek.isAny], [anyDay, anyWeekday])
})

test("both day fields must match if the option or a plus says so, otherwise either", () => {
  assert.equal(calendar("0 0 13 * FRI").dayMatch, "either")
  assert.equal(calendar("0 0 13 * +FRI").dayMatch, "both")
  assert.equal(calendar("0 0 13 * FRI", { dayMatch: "both" }).dayMatch, "both")
})

test("H is chosen by the seed, always the same and within the field", () => {
  const minutes = new Set<number>()
  for (let seed = 0; seed < 2_000; seed++) {
    const cron = calendar("H H(9-16) H H H", { seed: `schedule-${seed}` })
    assert.deepEqual(
      calendar("H H(9-16) H H H", { seed: `schedule-${seed}` }).minute.values,
      cron.minute.values,
    )
    assert.isTrue(cron.hour.values[0]! >= 9 && cron.hour.values[0]! <= 16)
    assert.isAtMost(cron.dayOfMonth.values[0]!, 28)
    minutes.add(cron.minute.values[0]!)
  }

  assert.equal(minutes.size, 60)
})

test("H with a step begins at a place chosen by the seed and goes on in steps", () => {
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

const REFUSED: readonly (readonly [
  problem: string,
  expression: string,
  code: ErrorCode,
  field: FieldName,
  position: number,
])[] = [
  ["a minute of 60", "60 * * * *", "BELFRY_CRON_FIELD_RANGE", "minute", 0],
  ["an hour of 24", "0 24 * * *", "BELFRY_CRON_FIELD_RANGE", "hour", 2],
  ["a second of 60", "60 0 0 * * *", "BELFRY_CRON_FIELD_RANGE", "second", 0],
  ["a day 0", "0 0 0 * *", "BELFRY_CRON_FIELD_RANGE", "dayOfMonth", 4],
  ["a day 32", "0 0 32 * *", "BELFRY_CRON_FIELD_RANGE", "dayOfMonth", 4],
  ["a month 0", "0 0 1 0 *", "BELFRY_CRON_FIELD_RANGE", "month", 6],
  ["a month 13", "0 0 1 13 *", "BELFRY_CRON_FIELD_RANGE", "month", 6],
  ["a weekday 8", "0 0 * * 8", "BELFRY_CRON_FIELD_RANGE", "dayOfWeek", 8],
  ["the third item of a list", "1,2,75,4 * * * *", "BELFRY_CRON_FIELD_RANGE", "minute", 4],
  ["the end of a range", "0 0 1-32 * *", "BELFRY_CRON_FIELD_RANGE", "dayOfMonth", 4],
  ["a step of 0", "*/0 * * * *", "BELFRY_CRON_FIELD_RANGE", "minute", 0],
  ["a step beyond the field", "*/61 * * * *", "BELFRY_CRON_FIELD_RANGE", "minute", 0],
  ["an hour's step beyond the day", "0 */25 * * *", "BELFRY_CRON_FIELD_RANGE", "hour", 2],
  ["a weekday's step beyond the week", "0 0 * * */8", "BELFRY_CRON_FIELD_RANGE", "dayOfWeek", 8],
  ["a step of H beyond the field", "H/61 * * * *", "BELFRY_CRON_FIELD_RANGE", "minute", 0],
  ["a very long number", `${"9".repeat(100)} * * * *`, "BELFRY_CRON_FIELD_RANGE", "minute", 0],
  ["a very long step", `*/${"9".repeat(100)} * * * *`, "BELFRY_CRON_FIELD_RANGE", "minute", 0],
  ["the sixth Friday", "0 0 * * FRI#6", "BELFRY_CRON_FIELD_RANGE", "dayOfWeek", 8],
  ["the Friday number 0", "0 0 * * FRI#0", "BELFRY_CRON_FIELD_RANGE", "dayOfWeek", 8],
  ["the eighth weekday's third", "0 0 * * 8#3", "BELFRY_CRON_FIELD_RANGE", "dayOfWeek", 8],
  ["31 days before the last", "0 0 L-31 * *", "BELFRY_CRON_FIELD_RANGE", "dayOfMonth", 4],
  ["0 days before the last", "0 0 L-0 * *", "BELFRY_CRON_FIELD_RANGE", "dayOfMonth", 4],
  ["the weekday nearest to the 32nd", "0 0 32W * *", "BELFRY_CRON_FIELD_RANGE", "dayOfMonth", 4],
  ["the range of an H", "H(0-60) * * * *", "BELFRY_CRON_FIELD_RANGE", "minute", 0],
  ["a reversed range", "0 22-2 * * *", "BELFRY_CRON_SYNTAX", "hour", 2],
  ["a reversed range of names", "0 0 * * FRI-MON", "BELFRY_CRON_SYNTAX", "dayOfWeek", 8],
  ["a reversed range of months", "0 0 1 NOV-FEB *", "BELFRY_CRON_SYNTAX", "month", 6],
  ["a reversed range to 0", "0 0 * * 5-0", "BELFRY_CRON_SYNTAX", "dayOfWeek", 8],
  ["a reversed range in an H", "H(30-10) * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["an empty item", "1,,2 * * * *", "BELFRY_CRON_SYNTAX", "minute", 2],
  ["a comma at the end", "0 1, * * *", "BELFRY_CRON_SYNTAX", "hour", 4],
  ["a comma at the beginning", "0 ,1 * * *", "BELFRY_CRON_SYNTAX", "hour", 2],
  ["a step without a number", "*/ * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["a step without a base", "/5 * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["two steps", "*/5/2 * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["a negative step", "*/-5 * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["a broken step", "*/1.5 * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["a negative number", "-5 * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["a range without an end", "5- * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["three ends of a range", "1-2-3 * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["a star in a range", "*-5 * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["a star after a value", "5* * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["two stars", "** * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["a sign", "+5 * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["an exponent", "1e1 * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["a hexadecimal number", "0x1F * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["a wave dash", "0~30 * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["a question mark among the minutes", "? * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["a question mark with a step", "0 0 ?/2 * *", "BELFRY_CRON_SYNTAX", "dayOfMonth", 4],
  ["a name with a number", "0 0 1 JAN1 *", "BELFRY_CRON_SYNTAX", "month", 6],
  ["a full name", "0 0 1 JANUARY *", "BELFRY_CRON_SYNTAX", "month", 6],
  ["a month among the weekdays", "0 0 * * JAN", "BELFRY_CRON_SYNTAX", "dayOfWeek", 8],
  ["a weekday among the months", "0 0 1 MON *", "BELFRY_CRON_SYNTAX", "month", 6],
  ["a word of JavaScript", "0 0 1 constructor *", "BELFRY_CRON_SYNTAX", "month", 6],
  ["L among the hours", "0 L * * *", "BELFRY_CRON_SYNTAX", "hour", 2],
  ["a bare W", "0 0 W * *", "BELFRY_CRON_SYNTAX", "dayOfMonth", 4],
  ["a W on a range", "0 0 1-5W * *", "BELFRY_CRON_SYNTAX", "dayOfMonth", 4],
  ["WL", "0 0 WL * *", "BELFRY_CRON_SYNTAX", "dayOfMonth", 4],
  ["a bare L among the weekdays", "0 0 * * L", "BELFRY_CRON_SYNTAX", "dayOfWeek", 8],
  ["a # among the days", "0 0 5#2 * *", "BELFRY_CRON_SYNTAX", "dayOfMonth", 4],
  ["a # without a number", "0 0 * * FRI#", "BELFRY_CRON_SYNTAX", "dayOfWeek", 8],
  ["a # on a range", "0 0 * * MON-FRI#1", "BELFRY_CRON_SYNTAX", "dayOfWeek", 8],
  ["a plus by itself", "0 0 1 * +", "BELFRY_CRON_SYNTAX", "dayOfWeek", 9],
  ["two pluses", "0 0 1 * ++MON", "BELFRY_CRON_SYNTAX", "dayOfWeek", 9],
  ["a plus elsewhere", "0 0 +1 * *", "BELFRY_CRON_SYNTAX", "dayOfMonth", 4],
  ["an H without its end", "H(0-29 * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["an H inside an H", "H(H(0-5)-9) * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["an H as the start of a range", "H-30 * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["Arabic digits", "٥ * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["full-width digits", "５ * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["a full-width star", "＊ * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["an en dash", "1–5 * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["a long s for an S", "0 0 * * \u017fUN", "BELFRY_CRON_SYNTAX", "dayOfWeek", 8],
  ["a dotless i for an I", "0 0 * * FR\u0131", "BELFRY_CRON_SYNTAX", "dayOfWeek", 8],
  ["a NUL", "0\u0000 * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["a zero-width space", "0\u200b * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["half a surrogate pair", "\ud83d * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["the second line", "0\n99 * * *", "BELFRY_CRON_FIELD_RANGE", "hour", 2],
]

for (const [problem, expression, code, field, position] of REFUSED) {
  test(`${problem} is refused: ${JSON.stringify(expression.slice(0, 40))}`, () => {
    const error = refusalOf(expression)

    assert.deepInclude(error.details, { field, position, expression })
    assert.equal(error.code, code)
    assert.include(error.message, JSON.stringify(expression))
  })
}

test("an error names the field, the value, the range and the position", () => {
  const error = refusalOf("0 25 * * *")

  assert.equal(error.message, 'Hour "25" is out of range 0-23, in "0 25 * * *" (field 2, position 2).')
  assert.deepInclude(error.details, { field: "hour", value: "25", min: 0, max: 23, position: 2 })
})

test("a field is counted from the one that is written first", () => {
  assert.include(refusalOf("0 99 0 * * *").message, "(field 2, position 2)")
})

test.each([
  "",
  " ",
  "*",
  "* * * *",
  "* * * * * * *",
  "0 0 1 1 * * 2026",
  "2026-03-27T07:00:00Z",
  "0\u00a00 * * *",
])("%j has too few or too many fields", (expression) => {
  const error = refusalOf(expression)

  assert.equal(error.code, "BELFRY_CRON_FIELD_COUNT")
  assert.include(error.message, "expected 5 (minute hour day month weekday), or 6 with seconds first")
})

test.each([
  "@",
  "@reboot",
  "@Never",
  "@dailyy",
  "@ daily",
  "@daily *",
  "@wee\u212aly",
  "@__proto__",
  "@everyday",
])("%j is no descriptor", (expression) => {
  assert.equal(refusalOf(expression).code, "BELFRY_CRON_SYNTAX")
})

test("an interval needs a duration of at least a second", () => {
  assert.equal(refusalOf("@every 999ms").code, "BELFRY_CRON_SYNTAX")
  assert.equal(refusalOf("@every").code, "BELFRY_DURATION_INVALID")
  assert.equal(refusalOf("@every 5").code, "BELFRY_DURATION_INVALID")
  assert.equal(refusalOf("@every -5m").code, "BELFRY_DURATION_INVALID")
})

test.each([null, undefined, 5, {}, [], true])("%j is no expression", (expression) => {
  assert.equal(refusalOf(expression as unknown as string).code, "BELFRY_CRON_SYNTAX")
})

test("an unknown zone is refused", () => {
  assert.equal(refusalOf("0 0 * * *", { timezone: "PST" }).code, "BELFRY_TIMEZONE_UNKNOWN")
  assert.equal(refusalOf("0 0 * * *", { timezone: "" }).code, "BELFRY_TIMEZONE_UNKNOWN")
})

test.each([
  "0 0 30 2 *",
  "0 0 31 2,4,6,9,11 *",
  "0 0 31W 4 *",
  "0 0 L-29 2 *",
  "0 0 L-30 4,6 *",
  "0 0 1 * +MON#2",
  "0 0 8 * +MON#1",
  "0 0 L * +MON#1",
  "0 0 LW * +SUN",
  "0 0 29 2 +MON#4",
])("%s never matches, and is refused", (expression) => {
  assert.equal(refusalOf(expression).code, "BELFRY_CRON_NEVER")
})

test.each([
  ["29 February", "0 0 29 2 *"],
  ["29 February on a Monday", "0 0 29 2 +MON"],
  ["the fifth Friday of February, in leap years", "0 0 * 2 FRI#5"],
  ["29 days in February", "0 0 L-28 2 *"],
  ["the last of February as a fourth Friday, in common years", "0 0 L 2 +FRI#4"],
  ["a third Friday seven days before the end, in February only", "0 0 L-7 * +FRI#3"],
  ["a day that never comes beside a weekday that does", "0 0 31 4 MON"],
])("%s can match", (_title, expression) => {
  assert.equal(parseCron(expression).kind, "calendar")
})

const HOSTILE: readonly (readonly [title: string, expression: string])[] = [
  ["10 MB of stars", Buffer.alloc(10_000_000, "* ").toString()],
  ["10 MB of digits", Buffer.alloc(10_000_000, "9").toString()],
  ["10 MB of blanks", Buffer.alloc(10_000_000, " ").toString()],
  ["10 MB of @", Buffer.alloc(10_000_000, "@").toString()],
  ["as many commas as are read", `${",".repeat(EXPRESSION_MAX - 8)} * * * *`],
  ["as many stars as are read", `${"*,".repeat(123)}* * * * *`],
  ["as many ranges as are read", `${"0-59,".repeat(49)}* * * * *`],
  ["as many last days as are read", `0 0 ${"L,".repeat(121)}L * +1`],
  ["as many special weekdays as are read", `0 0 31 2 +${"1#1,".repeat(60)}1`],
  ["as many H as are read", `${"H,".repeat(123)}H * * * *`],
  ["as many parentheses as are read", `H${"(".repeat(200)} * * * *`],
  ["as many dashes as are read", `${"-".repeat(200)} * * * *`],
  ["as many slashes as are read", `${"/".repeat(200)} * * * *`],
  ["as many digits as are read", `${"0".repeat(247)} * * * *`],
  ["as many NULs as are read", "\u0000".repeat(EXPRESSION_MAX)],
  ["as many blanks as are read", " ".repeat(EXPRESSION_MAX)],
  ["a long interval", `@every ${"1s".repeat(100)}`],
  ["an interval of blanks", `@every${" ".repeat(240)}!`],
]

for (const [title, expression] of HOSTILE) {
  test(`${title}: answered within a few milliseconds, and briefly`, () => {
    const times = [1, 2, 3].map(() => {
      const startedAt = performance.now()
      const message = messageOf(expression)
      const elapsed = performance.now() - startedAt
      assert.isBelow(message.length, 2_500)
      return elapsed
    })

    // The best of three: this machine may be busy with something else.
    assert.isBelow(Math.min(...times), 5)
  })
}

test("an expression longer than any person writes isn't read", () => {
  const error = refusalOf(`${" ".repeat(EXPRESSION_MAX)}* * * * *`)

  assert.equal(error.code, "BELFRY_CRON_SYNTAX")
  assert.include(error.message, `at most ${EXPRESSION_MAX}`)
})

function calendar(expression: string, options: CronOptions = {}): CalendarCron {
  const cron = parseCron(expression, options)
  if (cron.kind !== "calendar") throw new Error(`${expression} is an interval`)
  return cron
}

function withoutExpression({ expression: _, ...rest }: CalendarCron): Omit<CalendarCron, "expression"> {
  return rest
}

function refusalOf(expression: string, options: CronOptions = {}): BelfryError {
  try {
    parseCron(expression, options)
  } catch (error) {
    if (error instanceof BelfryError) return error
    throw error
  }
  throw new Error(`${expression} was accepted`)
}

/** The refusal's text, or nothing if the expression was accepted. */
function messageOf(expression: string): string {
  try {
    parseCron(expression)
    return ""
  } catch (error) {
    if (error instanceof BelfryError) return error.message
    throw error
  }
}
