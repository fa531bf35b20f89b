import { storedJson } from "../../core/json.ts"
import type { Counters } from "../../core/statistics.ts"

/** Counters as their record says. What is no number counts nothing. */
export function readableCounters(text: string | null | undefined): Counters {
  let said: unknown
  try {
    said = storedJson(text ?? "{}")
  } catch {
    return {}
  }
  if (typeof said !== "object" || said === null || Array.isArray(said)) return {}
  return Object.fromEntries(Object.entries(said).filter(([, count]) => Number.isFinite(count)))
}
