import type { ChangedValue } from "../../scheduler/schedules/changed-values.ts"

/** `cron: "30 2 * * *" → "0 3 * * *"`. */
export function changeWords({ option, from, to }: ChangedValue): string {
  return `${option}: ${valueWords(from)} → ${valueWords(to)}`
}

function valueWords(value: unknown): string {
  return value === null ? "not set" : JSON.stringify(value)
}
