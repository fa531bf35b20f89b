import type { ScheduleDefinition } from "../../core/schedule.ts"
import { leanOptions } from "../applying/view-definition.ts"

/** One option of a schedule that changes; null for an option that isn't set. */
export interface ChangedValue {
  readonly option: string
  readonly from: unknown
  readonly to: unknown
}

/** The options in which two definitions differ, by the names that files and flags give them. */
export function changedValues(
  before: ScheduleDefinition,
  after: ScheduleDefinition,
): readonly ChangedValue[] {
  const [from, to] = [optionsIn(before), optionsIn(after)]
  return [...new Set([...Object.keys(from), ...Object.keys(to)])]
    .map((option) => ({ option, from: from[option] ?? null, to: to[option] ?? null }))
    .filter((value) => JSON.stringify(value.from) !== JSON.stringify(value.to))
}

function optionsIn(definition: ScheduleDefinition): Readonly<Record<string, unknown>> {
  return { ...leanOptions(definition), payload: definition.payload }
}

/** `cron: "30 2 * * *" → "0 3 * * *"`. */
export function changeWords({ option, from, to }: ChangedValue): string {
  return `${option}: ${valueWords(from)} → ${valueWords(to)}`
}

function valueWords(value: unknown): string {
  return value === null ? "not set" : JSON.stringify(value)
}
