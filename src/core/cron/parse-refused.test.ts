import { assert, test } from "vitest"
import { HOSTILE, messageOf } from "../../../test/support/hostile-expressions.ts"
import { BelfryError, type ErrorCode } from "../errors.ts"
import type { CronOptions } from "./cron.ts"
import type { FieldName } from "./field.ts"
import { EXPRESSION_MAX, parseCron } from "./parse.ts"

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
  ["a step above 9999", "*/10000 * * * *", "BELFRY_CRON_FIELD_RANGE", "minute", 0],
  ["a step of H above 9999", "H/10000 * * * *", "BELFRY_CRON_FIELD_RANGE", "minute", 0],
  ["a very long number", `${"9".repeat(100)} * * * *`, "BELFRY_CRON_FIELD_RANGE", "minute", 0],
  ["a very long step", `*/${"9".repeat(100)} * * * *`, "BELFRY_CRON_FIELD_RANGE", "minute", 0],
  ["the sixth Friday", "0 0 * * FRI#6", "BELFRY_CRON_FIELD_RANGE", "dayOfWeek", 8],
  ["the Friday number 0", "0 0 * * FRI#0", "BELFRY_CRON_FIELD_RANGE", "dayOfWeek", 8],
  ["the third of weekday 8", "0 0 * * 8#3", "BELFRY_CRON_FIELD_RANGE", "dayOfWeek", 8],
  ["the first of weekday 10", "0 0 * * 10#1", "BELFRY_CRON_FIELD_RANGE", "dayOfWeek", 8],
  ["the twelfth Friday", "0 0 * * FRI#12", "BELFRY_CRON_FIELD_RANGE", "dayOfWeek", 8],
  ["the last of weekday 10", "0 0 * * 10L", "BELFRY_CRON_FIELD_RANGE", "dayOfWeek", 8],
  ["31 days before the last", "0 0 L-31 * *", "BELFRY_CRON_FIELD_RANGE", "dayOfMonth", 4],
  ["0 days before the last", "0 0 L-0 * *", "BELFRY_CRON_FIELD_RANGE", "dayOfMonth", 4],
  ["the weekday nearest to the 32nd", "0 0 32W * *", "BELFRY_CRON_FIELD_RANGE", "dayOfMonth", 4],
  ["an H range up to 60", "H(0-60) * * * *", "BELFRY_CRON_FIELD_RANGE", "minute", 0],
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
  ["a step with a fraction", "*/1.5 * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
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
  ["an L after a month", "0 0 1 5L *", "BELFRY_CRON_SYNTAX", "month", 6],
  ["a # among the hours", "0 5#2 * * *", "BELFRY_CRON_SYNTAX", "hour", 2],
  ["a bare W", "0 0 W * *", "BELFRY_CRON_SYNTAX", "dayOfMonth", 4],
  ["a W on a range", "0 0 1-5W * *", "BELFRY_CRON_SYNTAX", "dayOfMonth", 4],
  ["WL", "0 0 WL * *", "BELFRY_CRON_SYNTAX", "dayOfMonth", 4],
  ["a bare L among the weekdays", "0 0 * * L", "BELFRY_CRON_SYNTAX", "dayOfWeek", 8],
  ["characters after an L", "0 0 LX * *", "BELFRY_CRON_SYNTAX", "dayOfMonth", 4],
  ["characters after a W", "0 0 15WX * *", "BELFRY_CRON_SYNTAX", "dayOfMonth", 4],
  ["characters after the L of a weekday", "0 0 * * FRILX", "BELFRY_CRON_SYNTAX", "dayOfWeek", 8],
  ["characters before the L of a weekday", "0 0 * * XFRIL", "BELFRY_CRON_SYNTAX", "dayOfWeek", 8],
  ["characters after a #", "0 0 * * FRI#3X", "BELFRY_CRON_SYNTAX", "dayOfWeek", 8],
  ["characters before an H", "XH * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["a # among the days", "0 0 5#2 * *", "BELFRY_CRON_SYNTAX", "dayOfMonth", 4],
  ["a # without a number", "0 0 * * FRI#", "BELFRY_CRON_SYNTAX", "dayOfWeek", 8],
  ["a # on a range", "0 0 * * MON-FRI#1", "BELFRY_CRON_SYNTAX", "dayOfWeek", 8],
  ["a plus by itself", "0 0 1 * +", "BELFRY_CRON_SYNTAX", "dayOfWeek", 9],
  ["two pluses", "0 0 1 * ++MON", "BELFRY_CRON_SYNTAX", "dayOfWeek", 9],
  ["a plus elsewhere", "0 0 +1 * *", "BELFRY_CRON_SYNTAX", "dayOfMonth", 4],
  ["an H without its closing parenthesis", "H(0-29 * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
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
  ["a lone surrogate", "\ud83d * * * *", "BELFRY_CRON_SYNTAX", "minute", 0],
  ["an hour of 99 on the second line", "0\n99 * * *", "BELFRY_CRON_FIELD_RANGE", "hour", 2],
]

for (const [problem, expression, code, field, position] of REFUSED) {
  test(`${problem} is refused: ${JSON.stringify(expression.slice(0, 40))}`, () => {
    const error = refusalOf(expression)

    assert.deepInclude(error.details, { field, position, expression })
    assert.equal(error.code, code)
    assert.include(error.message, JSON.stringify(expression))
  })
}

test("the number of a field in a message counts from the first written field", () => {
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
  "5 @every 1h",
  "0\u00a00 * * *",
])("%j is refused for too few or too many fields", (expression) => {
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
  "@every90s",
])("%j is refused as a descriptor", (expression) => {
  assert.equal(refusalOf(expression).code, "BELFRY_CRON_SYNTAX")
})

test("@every needs a duration of at least 1 s", () => {
  assert.equal(refusalOf("@every 999ms").code, "BELFRY_CRON_SYNTAX")
  assert.equal(refusalOf("@every").code, "BELFRY_DURATION_INVALID")
  assert.equal(refusalOf("@every 5").code, "BELFRY_DURATION_INVALID")
  assert.equal(refusalOf("@every -5m").code, "BELFRY_DURATION_INVALID")
})

test.each([null, undefined, 5, {}, [], true, Object.create(null)])(
  "%j is refused as an expression, because it isn't text",
  (expression) => {
    assert.equal(refusalOf(expression as unknown as string).code, "BELFRY_CRON_SYNTAX")
  },
)

test("an unknown time zone is refused", () => {
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

test.each([31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].map((last, index) => [index + 1, last] as const))(
  "the last day of month %d is %d",
  (month, last) => {
    assert.equal(parseCron(`0 0 ${last} ${month} *`).kind, "calendar")
    if (last < 31) assert.equal(refusalOf(`0 0 ${last + 1} ${month} *`).code, "BELFRY_CRON_NEVER")
  },
)

test.each([
  ["29 February", "0 0 29 2 *"],
  ["29 February on a Monday", "0 0 29 2 +MON"],
  ["the fifth Friday of February, in leap years", "0 0 * 2 FRI#5"],
  ["the 28th day before the last of February", "0 0 L-28 2 *"],
  ["the last day of February as a fourth Friday, in common years", "0 0 L 2 +FRI#4"],
  ["a third Friday seven days before the end, in February only", "0 0 L-7 * +FRI#3"],
  ["a day that never comes together with a weekday that does", "0 0 31 4 MON"],
])("an expression for %s is accepted", (_title, expression) => {
  assert.equal(parseCron(expression).kind, "calendar")
})

for (const [title, expression] of HOSTILE) {
  test(`the parser answers in at most 2,500 characters: ${title}`, () => {
    assert.isBelow(messageOf(expression).length, 2_500)
  })
}

test("an expression longer than EXPRESSION_MAX is refused", () => {
  const error = refusalOf(`${" ".repeat(EXPRESSION_MAX)}* * * * *`)

  assert.equal(error.code, "BELFRY_CRON_SYNTAX")
  assert.include(error.message, `at most ${EXPRESSION_MAX}`)
  assert.equal(parseCron("* * * * *".padEnd(EXPRESSION_MAX)).kind, "calendar")
})

function refusalOf(expression: string, options: CronOptions = {}): BelfryError {
  try {
    parseCron(expression, options)
  } catch (error) {
    if (error instanceof BelfryError) return error
    throw error
  }
  throw new Error(`${expression} was accepted`)
}
