import { assert, test } from "vitest"
import { formatInstant } from "../time/instant.ts"
import type { Cron, DstPolicy } from "./cron.ts"
import { parseCron } from "./parse.ts"
import { nextOccurrence, previousOccurrence } from "./search.ts"

const POLICIES: readonly (readonly [
  expression: string,
  day: string,
  dst: Partial<DstPolicy>,
  times: string[],
])[] = [
  ["30 2 * * *", "2026-03-29", { gap: "after" }, ["01:00:00Z"]],
  ["30 2 * * *", "2026-03-29", { gap: "skip" }, []],
  ["0,30 2,3 * * *", "2026-03-29", { gap: "skip" }, ["01:00:00Z", "01:30:00Z"]],
  ["*/30 2 * * *", "2026-03-29", { gap: "after" }, []],
  ["30 * * * *", "2026-03-29", { gap: "skip" }, hours(0, 23, 30)],
  ["30 2 * * *", "2026-10-25", { overlap: "first" }, ["00:30:00Z"]],
  ["30 2 * * *", "2026-10-25", { overlap: "second" }, ["01:30:00Z"]],
  ["30 2 * * *", "2026-10-25", { overlap: "both" }, ["00:30:00Z", "01:30:00Z"]],
  ["0,30 2 * * *", "2026-10-25", { overlap: "first" }, ["00:00:00Z", "00:30:00Z"]],
  ["0,30 2 * * *", "2026-10-25", { overlap: "second" }, ["01:00:00Z", "01:30:00Z"]],
  ["0 3 * * *", "2026-10-25", { overlap: "second" }, ["02:00:00Z"]],
  ["30 * * * *", "2026-10-25", { overlap: "first" }, hours(0, 23, 30)],
  ["30 * * * *", "2026-10-25", { overlap: "second" }, hours(0, 23, 30)],
]

for (const [expression, day, dst, times] of POLICIES) {
  test(`${expression} with ${JSON.stringify(dst)} fires at [${times.slice(0, 4)}] on ${day} in Berlin`, () => {
    const cron = parseCron(expression, { timezone: "Europe/Berlin", dst })

    const found: string[] = []
    let at = nextOccurrence(cron, Date.parse(`${day}T00:00:00Z`) - 1)
    while (at !== null && formatInstant(at).startsWith(day)) {
      found.push(formatInstant(at).slice(11))
      at = nextOccurrence(cron, at)
    }

    assert.deepEqual(found, times)
    assert.deepEqual(timesBackOn(day, cron), times.toReversed())
  })
}

function timesBackOn(day: string, cron: Cron): string[] {
  const found: string[] = []
  let at = previousOccurrence(cron, Date.parse(`${day}T23:59:59.999Z`))
  while (at !== null && formatInstant(at).startsWith(day)) {
    found.push(formatInstant(at).slice(11))
    at = previousOccurrence(cron, at)
  }
  return found
}

function hours(from: number, to: number, minute: number): string[] {
  const times: string[] = []
  for (let hour = from; hour <= to; hour++) times.push(`${String(hour).padStart(2, "0")}:${minute}:00Z`)
  return times
}
