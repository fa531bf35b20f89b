import { readFileSync } from "node:fs"
import { BelfryError, type CronOptions, next, parse, previous } from "belfry/cron"
import { assert, test } from "vitest"

/** Tables made by `golden/oracle.py`, which shares no code with the engine: it is a brute-force search with Python's zones. */
interface GoldenCase {
  readonly cron: string
  readonly tz: string
  readonly gap?: "after" | "skip"
  readonly overlap?: "first" | "second" | "both"
  readonly after?: string
  readonly next?: readonly string[]
  readonly before?: string
  readonly previous?: readonly string[]
}

for (const table of ["dst", "calendar", "previous"]) {
  const cases = JSON.parse(
    readFileSync(new URL(`./golden/${table}.json`, import.meta.url), "utf8"),
  ) as GoldenCase[]

  test(`belfry gives the ${cases.length} answers of golden/${table}.json`, () => {
    const mismatches = cases.map(mismatchOf).filter((mismatch) => mismatch !== null)

    assert.isAbove(cases.length, 0)
    assert.equal(
      mismatches.length,
      0,
      `${mismatches.length} mismatches:\n${mismatches.slice(0, 10).join("\n")}`,
    )
  })
}

function mismatchOf(golden: GoldenCase): string | null {
  const expected = (golden.next ?? golden.previous)!.join(" ")
  const found = answersTo(golden)
  if (found === expected) return null
  return `${JSON.stringify({ ...golden, next: undefined, previous: undefined })}\n  expected ${expected}\n  found    ${found}`
}

function answersTo(golden: GoldenCase): string {
  const step = golden.next ? next : previous
  const count = (golden.next ?? golden.previous)!.length
  try {
    const cron = parse(golden.cron, { timezone: golden.tz, dst: dstOf(golden) })
    const found: string[] = []
    let at = step(cron, (golden.after ?? golden.before)!)
    while (at !== null && found.length < count) {
      found.push(at.toISOString().replace(".000Z", "Z"))
      at = step(cron, at)
    }
    return found.join(" ")
  } catch (error) {
    if (!(error instanceof BelfryError)) throw error
    return error.message
  }
}

function dstOf({ gap, overlap }: GoldenCase): NonNullable<CronOptions["dst"]> {
  return { ...(gap && { gap }), ...(overlap && { overlap }) }
}
