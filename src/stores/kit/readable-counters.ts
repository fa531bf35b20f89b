import type { Counters } from "../../core/records/statistics.ts"
import { storedJson } from "../../core/values/json.ts"

/** Counters from their stored text. Values that aren't numbers are left out. */
export function readableCounters(text: string | null | undefined): Counters {
  let stored: unknown
  try {
    stored = storedJson(text ?? "{}")
  } catch {
    return {}
  }
  if (typeof stored !== "object" || stored === null || Array.isArray(stored)) return {}
  return Object.fromEntries(Object.entries(stored).filter(([, count]) => Number.isFinite(count)))
}
