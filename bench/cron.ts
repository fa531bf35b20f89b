/**
 * Calls of `next()` with a time zone per second, compared with croner, cron-parser and cronosjs in the same run, and the slowest
 * first calls.
 * `npx tsx bench/cron.ts`
 */

import { next, parse } from "belfry/cron"
import { CronExpressionParser } from "cron-parser"
import { Cron as Croner } from "croner"
import { CronosExpression } from "cronosjs"
import { parseCron } from "../src/core/cron/parse.ts"
import { nextOccurrence } from "../src/core/cron/search.ts"

const ORDINARY = [
  ["*/5 * * * *", "America/New_York"],
  ["0 * * * *", "Europe/Berlin"],
  ["30 9 * * MON-FRI", "Europe/London"],
  ["0 2 * * *", "America/Los_Angeles"],
  ["15,45 8-18 * * *", "Australia/Sydney"],
  ["0 6 1,15 * *", "Asia/Kolkata"],
] as const

const START = Date.UTC(2026, 0, 1)
/** After this instant each library starts again from START, so that all walk over the same years. */
const END = START + 3e11
const TIMED_MS = 400

function wrapped(at: Date): Date {
  return at.getTime() > END ? new Date(START) : at
}

/** Walks from occurrence to occurrence, and returns to START after END, so that the rules of zones stay ordinary. */
type Walk = (calls: number) => void

const LIBRARIES: Readonly<
  Record<
    string,
    {
      walk: (expression: string, timezone: string) => Walk
      parseAndNext: (expression: string, timezone: string) => void
    }
  >
> = {
  // The public API, with Dates like the other libraries. The engine calls the search inside it, in milliseconds.
  belfry: {
    walk: (expression, timezone) => {
      const cron = parse(expression, { timezone })
      let at = new Date(START)
      return (calls) => {
        for (let call = 0; call < calls; call++) at = wrapped(next(cron, at)!)
      }
    },
    parseAndNext: (expression, timezone) => next(parse(expression, { timezone }), START),
  },
  "belfry, inside": {
    walk: (expression, timezone) => {
      const cron = parseCron(expression, { timezone })
      let at = START
      return (calls) => {
        for (let call = 0; call < calls; call++) {
          at = nextOccurrence(cron, at)!
          if (at > END) at = START
        }
      }
    },
    parseAndNext: (expression, timezone) => nextOccurrence(parseCron(expression, { timezone }), START),
  },
  croner: {
    walk: (expression, timezone) => {
      const cron = new Croner(expression, { timezone, paused: true })
      let at = new Date(START)
      return (calls) => {
        for (let call = 0; call < calls; call++) at = wrapped(cron.nextRun(at)!)
      }
    },
    parseAndNext: (expression, timezone) =>
      new Croner(expression, { timezone, paused: true }).nextRun(new Date(START)),
  },
  "cron-parser": {
    walk: (expression, timezone) => {
      const cron = CronExpressionParser.parse(expression, { tz: timezone, currentDate: new Date(START) })
      return (calls) => {
        for (let call = 0; call < calls; call++) cron.next()
      }
    },
    parseAndNext: (expression, timezone) =>
      CronExpressionParser.parse(expression, { tz: timezone, currentDate: new Date(START) }).next(),
  },
  cronosjs: {
    walk: (expression, timezone) => {
      const cron = CronosExpression.parse(expression, { timezone })
      let at = new Date(START)
      return (calls) => {
        for (let call = 0; call < calls; call++) at = wrapped(cron.nextDate(at)!)
      }
    },
    parseAndNext: (expression, timezone) =>
      CronosExpression.parse(expression, { timezone }).nextDate(new Date(START)),
  },
}

function callsPerSecond(walk: Walk): number {
  let batch = 50
  walk(batch)
  let calls = 0
  const startedAt = process.hrtime.bigint()
  let elapsedMs = 0
  while (elapsedMs < TIMED_MS) {
    walk(batch)
    calls += batch
    elapsedMs = Number(process.hrtime.bigint() - startedAt) / 1e6
    if (elapsedMs < TIMED_MS / 50) batch *= 2
  }
  return (calls / elapsedMs) * 1_000
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)
}

const rows = Object.entries(LIBRARIES).map(([name, library]) => {
  const nextEach = ORDINARY.map(([expression, timezone]) =>
    callsPerSecond(library.walk(expression, timezone)),
  )
  const parseAndNext = ORDINARY.map(([expression, timezone]) =>
    callsPerSecond((calls) => {
      for (let call = 0; call < calls; call++) library.parseAndNext(expression, timezone)
    }),
  )
  return { name, nextEach, mean: geometricMean(nextEach), parseAndNext: geometricMean(parseAndNext) }
})

const croner = rows.find((row) => row.name === "croner")!
const shown = (value: number) => Math.round(value).toLocaleString("en-US")
console.log(
  "Calls per second for",
  ORDINARY.map(([expression, timezone]) => `${expression} ${timezone}`).join("; "),
)
console.table(
  rows.map((row) => ({
    library: row.name,
    "next, each": row.nextEach.map(shown).join(" "),
    "next, mean": shown(row.mean),
    "to croner": `${(row.mean / croner.mean).toFixed(1)}×`,
    "parse + next": shown(row.parseAndNext),
    "parse + next to croner": `${(row.parseAndNext / croner.parseAndNext).toFixed(1)}×`,
  })),
)

// The first call for a zone computes its years. No first call may take more than a few milliseconds.
const COLD = [
  ["0 0 29 2 +MON", "Asia/Gaza", "2073-01-01T00:00:00Z"],
  ["0 0 29 2 +MON", "Africa/Casablanca", "2026-01-01T00:00:00Z"],
  ["30 2 29 2 +SAT", "America/Nuuk", "2088-03-01T00:00:00Z"],
  ["0 0 L 2 +FRI#4", "Asia/Tehran", "2026-01-01T00:00:00Z"],
  ["0 0 29 2 +MON", "Asia/Beirut", "1880-01-01T00:00:00Z"],
  ["* * * * * *", "Africa/El_Aaiun", "2087-05-11T00:00:00Z"],
  ["0 0 1 1 *", "Pacific/Apia", "2011-12-30T09:00:00Z"],
  ["0 0 29 2 *", "Australia/Lord_Howe", "9995-03-01T00:00:00Z"],
  ["59 59 23 31 12 *", "Antarctica/Troll", "9999-12-31T23:59:58Z"],
] as const

console.log("First call for a zone, in ms:")
console.table(
  COLD.map(([expression, timezone, after]) => {
    const startedAt = process.hrtime.bigint()
    const at = nextOccurrence(parseCron(expression, { timezone }), Date.parse(after))
    const elapsedMs = Number(process.hrtime.bigint() - startedAt) / 1e6
    return {
      expression,
      timezone,
      after,
      next: at && new Date(at).toISOString(),
      ms: elapsedMs.toFixed(2),
    }
  }),
)

const zone = parseCron("0 0 1 1 *", { timezone: "Europe/Madrid" })
if (zone.kind === "calendar") {
  zone.zone.spanAt(0)
  const startedAt = process.hrtime.bigint()
  for (let year = 2000; year < 2100; year++) zone.zone.spanAt(Date.UTC(year, 5, 1))
  console.log("One year of a zone, in ms:", (Number(process.hrtime.bigint() - startedAt) / 1e8).toFixed(3))
}
