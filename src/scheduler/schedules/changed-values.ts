import { minimalOptions } from "../../core/options/minimal-options.ts"
import type { ScheduleDefinition } from "../../core/schedule/schedule.ts"

/** A changed option of a schedule. A value is null if the option is not set. */
export interface ChangedValue {
  readonly option: string
  readonly from: unknown
  readonly to: unknown
}

/** The options in which two definitions differ. */
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
  const { task, payload } = definition
  return { task, ...minimalOptions(definition), payload }
}
