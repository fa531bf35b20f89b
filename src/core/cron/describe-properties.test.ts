import fc from "fast-check"
import { expect, test } from "vitest"
import { assertProperty } from "../../../test/support/properties.ts"
import { DAY, HOUR, type Instant, MINUTE } from "../time/instant.ts"
import { describeCron } from "./describe.ts"
import { parseCron } from "./parse.ts"
import { nextOccurrence } from "./search.ts"

const START = Date.UTC(2026, 0, 1) - 1

test("an expression described as every N minutes or hours has that interval throughout two days", () => {
  const upTo = (max: number) => Array.from({ length: max }, (_, index) => index + 1)
  // Random expressions are rarely of this form, and descriptions are most often wrong for it.
  for (const step of upTo(60)) for (const from of ["*", "0", "1"]) intervalHolds(`${from}/${step} * * * *`)
  for (const step of upTo(24)) for (const from of ["*", "0", "1"]) intervalHolds(`0 ${from}/${step} * * *`)
  assertProperty(fc.property(someTimes, intervalHolds))
})

function intervalHolds(expression: string): void {
  const match = /^Every (?:(\d+) )?(minute|hour)s?$/.exec(sentenceOf(expression))
  if (match === null) return
  const interval = Number(match[1] ?? 1) * (match[2] === "hour" ? HOUR : MINUTE)
  const found = occurrencesOf(expression, START, START + 2 * DAY)
  expect(found.slice(1).every((at, index) => at - found[index]! === interval)).toBe(true)
  expect(found).toHaveLength((2 * DAY) / interval)
}

test("an expression with an even interval throughout the day is described as every N", () => {
  for (const step of [2, 3, 4, 5, 6, 10, 12, 15, 20, 30]) {
    expect(sentenceOf(`*/${step} * * * *`)).toBe(`Every ${step} minutes`)
  }
  for (const step of [2, 3, 4, 6, 8, 12]) expect(sentenceOf(`0 */${step} * * *`)).toBe(`Every ${step} hours`)
})

test("times described one by one are exactly the occurrences of a day", () => {
  assertProperty(
    fc.property(someTimes, (expression) => {
      const match = /^At (\d\d:\d\d.*) every day$/.exec(sentenceOf(expression))
      if (match === null) return
      const described = match[1]!.split(/, | and /)
      const found = occurrencesOf(expression, START, START + DAY)
      expect(described).toEqual(found.map((at) => new Date(at).toISOString().slice(11, 16)))
    }),
  )
})

test("a described range of times has exactly the occurrences of a day", () => {
  assertProperty(
    fc.property(someTimes, (expression) => {
      const match = /^Every (?:(\d+) )?(minute|hour)s? from (\d\d:\d\d) through (\d\d:\d\d) every day$/.exec(
        sentenceOf(expression),
      )
      if (match === null) return
      const interval = Number(match[1] ?? 1) * (match[2] === "hour" ? HOUR : MINUTE)
      const found = occurrencesOf(expression, START, START + DAY)
      const described: Instant[] = []
      const last = Date.parse(`2026-01-01T${match[4]}Z`)
      for (let at = Date.parse(`2026-01-01T${match[3]}Z`); at <= last; at += interval) described.push(at)
      expect(found).toEqual(described)
    }),
  )
})

const someTimes = fc.tuple(someField(59), someField(23)).map(([minute, hour]) => `${minute} ${hour} * * *`)

function someField(max: number): fc.Arbitrary<string> {
  const value = fc.integer({ min: 0, max })
  const step = fc.integer({ min: 1, max: Math.min(max, 30) })
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
  return fc.oneof(
    fc.constant("*"),
    value.map(String),
    step.map((every) => `*/${every}`),
    fc.tuple(value, step).map(([from, every]) => `${from}/${every}`),
    range,
    fc.tuple(range, step).map(([span, every]) => `${span}/${every}`),
    fc.uniqueArray(value, { minLength: 2, maxLength: 5 }).map((values) => values.join(",")),
  )
}

function sentenceOf(expression: string): string {
  return describeCron(parseCron(expression))
}

function occurrencesOf(expression: string, after: Instant, until: Instant): Instant[] {
  const cron = parseCron(expression)
  const found: Instant[] = []
  for (let at = nextOccurrence(cron, after); at !== null && at <= until; at = nextOccurrence(cron, at)) {
    found.push(at)
  }
  return found
}
