import { definitionOf } from "./reconcile.ts"
import { type NewSchedule, NO_RUNS, progressOf, type Schedule, type ScheduleTally } from "./schedule.ts"
import { tallyOf } from "./schedule-tally.ts"

/** The record of a schedule that is written: with its version, and with the tally of its runs until now. */
export function storedSchedule(
  schedule: NewSchedule,
  version: number,
  tally: ScheduleTally = NO_RUNS,
): Schedule {
  return { ...schedule, ...tallyOf(tally), version }
}

/** A stored schedule as it is written again: without the fields that the store keeps by itself. */
export function newScheduleOf(stored: NewSchedule): NewSchedule {
  const { id, revision, createdAt, updatedAt, declaredAs, edits } = stored
  return {
    ...{ id, revision, createdAt, updatedAt, declaredAs },
    ...definitionOf(stored),
    ...progressOf(stored),
    ...(edits === undefined ? {} : { edits }),
  }
}
