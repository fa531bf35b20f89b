import type { ScheduleOptions } from "../../src/core/options/options.ts"
import { planFire } from "../../src/core/planning/fire.ts"
import { factsAfter, NO_FACTS } from "../../src/core/planning/plan.ts"
import type { Edit, Schedule } from "../../src/core/schedule/schedule.ts"
import { aDefinition, applied, at, ledger } from "./records.ts"

/** Schedules that were written by SQL directly, without our checks, for tests. */

export function edit(when: string, was: ScheduleOptions, more: Partial<Edit> = {}): Edit {
  return { at: at(when), by: "ada", was: { ...aDefinition(was), paused: null }, ...more }
}

/** As a store returns it: due, with its edits. */
export function edited(schedule: Schedule, ...edits: readonly Edit[]): Schedule {
  return { ...schedule, nextRunAt: edits[0]!.at, edits }
}

/** Plans until nothing more is due at `now`. */
export function planned(schedule: Schedule, now = at("15:00")) {
  const first = planFire(schedule, NO_FACTS, now)
  const { edits: _, ...settled } = applied(schedule, first)
  const isDue = settled.nextRunAt !== null && settled.nextRunAt <= now
  const second = isDue ? planFire(settled, factsAfter(NO_FACTS, first), now) : null
  return {
    runs: ledger([...first.runs, ...(second?.runs ?? [])]),
    after: second === null ? settled : applied(settled, second),
  }
}
