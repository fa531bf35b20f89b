import { assert, test } from "vitest"
import { thrownBy } from "../../../test/support/records.ts"
import { parseCron } from "./parse.ts"

const refusalOf = (expression: string) => thrownBy(() => parseCron(expression))

test.each([
  ["0 25 * * *", 'Hour "25" is out of range 0-23, in "0 25 * * *" (field 2, position 2).'],
  ["60 0 0 * * *", 'Second "60" is out of range 0-59, in "60 0 0 * * *" (field 1, position 0).'],
  ["60 * * * *", 'Minute "60" is out of range 0-59, in "60 * * * *" (field 1, position 0).'],
  ["0 0 32 * *", 'Day of month "32" is out of range 1-31, in "0 0 32 * *" (field 3, position 4).'],
  ["0 0 1 13 *", 'Month "13" is out of range 1-12, in "0 0 1 13 *" (field 4, position 6).'],
  ["0 0 * * 8", 'Day of week "8" is out of range 0-7, in "0 0 * * 8" (field 5, position 8).'],
  ["0 0 * * 0#6", 'Day of week "0#6" is out of range 1-5, in "0 0 * * 0#6" (field 5, position 8).'],
  [
    "*/0 * * * *",
    'Minute "*/0" has a step of 0, which is out of range 1-9999, in "*/0 * * * *" (field 1, position 0).',
  ],
  ["*/x * * * *", 'Minute "*/x" has a step that isn\'t a number, in "*/x * * * *" (field 1, position 0).'],
  ["*/5/2 * * * *", 'Minute "*/5/2" has more than one step, in "*/5/2 * * * *" (field 1, position 0).'],
  [
    "1,,2 * * * *",
    'Minute "" is empty: a list has a value on both sides of each comma, in "1,,2 * * * *" (field 1, position 2).',
  ],
  [
    "1-2-3 * * * *",
    'Minute "1-2-3" is not a range: write one value, a dash and another value, in "1-2-3 * * * *" (field 1, position 0).',
  ],
  [
    "0 22-2 * * *",
    'Hour "22-2" is reversed: 22 is after 2. Write two ranges with a comma between them, in "0 22-2 * * *" (field 2, position 2).',
  ],
  ["x 0 0 * * *", 'Second "x" is not valid: expected 0-59, in "x 0 0 * * *" (field 1, position 0).'],
  ["0 x * * *", 'Hour "x" is not valid: expected 0-23, in "0 x * * *" (field 2, position 2).'],
  ["0 0 x * *", 'Day of month "x" is not valid: expected 1-31, in "0 0 x * *" (field 3, position 4).'],
  ["x * * * *", 'Minute "x" is not valid: expected 0-59, in "x * * * *" (field 1, position 0).'],
  [
    "0 0 1 x *",
    'Month "x" is not valid: expected 1-12 or a name JAN-DEC, in "0 0 1 x *" (field 4, position 6).',
  ],
  ["* *", '"* *" has 2 fields; expected 5 (minute hour day month weekday), or 6 with seconds first.'],
  ["*", '"*" has 1 field; expected 5 (minute hour day month weekday), or 6 with seconds first.'],
  [
    "@reboot",
    '"@reboot" is not a descriptor. Known descriptors: @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually and @every.',
  ],
  ["@every 999ms", '"@every 999ms" is shorter than a second.'],
  [
    "@every soon",
    'The @every interval "soon" is not a duration. Write "90s", "15m", "1h30m" or milliseconds.',
  ],
  ["0 0 30 2 *", '"0 0 30 2 *" never matches: no month of "2" has a day "30".'],
  ["0 0 8 * +MON#1", '"0 0 8 * +MON#1" never matches: no month of "*" has a day "8" that is also "MON#1".'],
  ["x".repeat(257), `"${"x".repeat(40)}…" has 257 characters; at most 256 are allowed.`],
  [5 as unknown as string, '"5" is not text.'],
  [
    `*/${"9".repeat(30)} * * * *`,
    `Minute "*/${"9".repeat(30)}" has a step of ${"9".repeat(20)}, which is out of range 1-9999, ` +
      `in "*/${"9".repeat(30)} * * * *" (field 1, position 0).`,
  ],
])("%j is refused with the field, the value, the allowed values and the position", (expression, message) => {
  assert.equal(refusalOf(expression).message, message)
})

test("the details of an error have the field, the value, the limits and the position", () => {
  assert.deepEqual(refusalOf("0 25 * * *").details, {
    ...{ field: "hour", value: "25", min: 0, max: 23, position: 2 },
    expression: "0 25 * * *",
  })
  assert.deepInclude(refusalOf("*/0 * * * *").details, { value: "*/0", min: 1, max: 9_999 })
  assert.deepInclude(refusalOf("0 0 L-31 * *").details, { value: "L-31", min: 1, max: 30 })
  assert.deepInclude(refusalOf("x * * * *").details, { value: "x", min: 0, max: 59 })
  assert.deepEqual(refusalOf("* *").details, { expression: "* *", count: 2 })
  assert.deepEqual(refusalOf("@reboot").details, { expression: "@reboot", position: 0 })
  assert.deepEqual(refusalOf("0 0 30 2 *").details, { expression: "0 0 30 2 *" })
})
