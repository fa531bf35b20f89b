import { next, occurrences, parse, previous } from "belfry/cron"
import { CronExpressionParser } from "cron-parser"
import { Cron } from "croner"
import { CronosExpression } from "cronosjs"
import { assert, test } from "vitest"

/** Zones that moved across the date line, and the calendar day that each zone left out. */
const DAYS_LEFT_OUT = [
  ["Pacific/Apia", "2011-12-30"],
  ["Pacific/Fakaofo", "2011-12-30"],
  ["Pacific/Kiritimati", "1994-12-31"],
  ["Pacific/Enderbury", "1994-12-31"],
  ["Pacific/Kwajalein", "1993-08-21"],
] as const

const DAY = 24 * 60 * 60 * 1_000

for (const [timezone, day] of DAYS_LEFT_OUT) {
  const after = new Date(Date.parse(day) - 2 * DAY)
  const date = new Date(day)

  test.each([
    "0 0 * * *",
    "0 12 * * *",
    "30 23 * * *",
    "0 0,12 * * *",
    `0 0,12 ${date.getUTCDate()} * *`,
    `0 9 * * ${date.getUTCDay()}`,
  ])(
    `%s in ${timezone}, which left out ${day}, has the same occurrences in croner and cron-parser`,
    (expression) => {
      const ours = occurrences(parse(expression, { timezone }), { after, limit: 6 }).map(String)

      assert.deepEqual(ours, new Cron(expression, { timezone, paused: true }).nextRuns(6, after).map(String))
      const parser = CronExpressionParser.parse(expression, { tz: timezone, currentDate: after })
      assert.deepEqual(
        ours,
        parser.take(6).map((at) => String(at.toDate())),
      )
    },
  )

  // For a left-out date or weekday cronosjs fires on another day, so only daily jobs are compared.
  test.each(["0 0 * * *", "0 12 * * *", "30 23 * * *"])(
    `%s in ${timezone}, which left out ${day}, has the same occurrences in cronosjs`,
    (expression) => {
      const ours = occurrences(parse(expression, { timezone }), { after, limit: 6 }).map(String)

      assert.deepEqual(
        ours,
        CronosExpression.parse(expression, { timezone }).nextNDates(after, 6).map(String),
      )
    },
  )

  test(`next and previous across ${day} in ${timezone} find the same occurrences`, () => {
    const cron = parse("0 0,12 * * *", { timezone })
    const forward = occurrences(cron, { after, limit: 8 })

    assert.deepEqual(
      forward.slice(1).map((at) => previous(cron, at)),
      forward.slice(0, -1),
    )
    assert.deepEqual(
      forward.slice(0, -1).map((at) => next(cron, at)),
      forward.slice(1),
    )
  })
}
