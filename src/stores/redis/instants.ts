import { BelfryError } from "../../core/errors.ts"
import { DATE_MAX } from "../../core/records/valid-records.ts"
import type { Instant } from "../../core/time/instant.ts"

/** Instants as they are written in hashes and before log lines: see `lua/instants.ts`. */

const TEXTS_MAX = 1_000

/** Many records of one call share an instant, and formatting it takes longer than all other work for a record. */
const texts = new Map<Instant, string>()

export function instantText(instant: Instant): string {
  const found = texts.get(instant)
  if (found !== undefined) return found
  const isDate = Math.abs(instant) <= DATE_MAX
  if (!isDate)
    throw new BelfryError("BELFRY_STORE_REFUSED", `${instant} is not an instant that can be stored.`)
  const text = new Date(instant).toISOString()
  if (texts.size >= TEXTS_MAX) texts.clear()
  texts.set(instant, text)
  return text
}

const RFC_3339 = /^(\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Null without a text. NaN if the text is not an instant; then the record is unreadable. */
export function instantIn(text: string | null | undefined): Instant | null {
  if (text === null || text === undefined) return null
  return RFC_3339.test(text) ? Date.parse(text) : Number.NaN
}
