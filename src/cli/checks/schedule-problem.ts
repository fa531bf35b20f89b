import { defineSchedule } from "../../core/options/definition.ts"
import { unreadOptionsIn } from "../../core/schedule/unread-options.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { definitionOf, minimalOptions } from "../files/view-definition.ts"

/** Why a stored schedule can't be planned. Null: it can. Checks the definition again, so the schedule need not be due. */
export function problemIn(schedule: ScheduleView): string | null {
  const { id, task, payload, lastError } = schedule
  if (lastError !== null) return lastError
  const unreadable = schedule.triggers.find(({ kind }) => kind === "unreadable")
  if (unreadable?.kind === "unreadable") return unreadable.why
  try {
    const options = minimalOptions(definitionOf(schedule))
    defineSchedule(options, { id, task, payload, owner: null, release: 0, now: null })
    return null
  } catch (error) {
    // The row may have been written by SQL directly, so any error is possible.
    return error instanceof Error ? error.message : String(error)
  }
}

/** Schedules that can be planned, and the others with their problems. */
export function splitBroken(schedules: readonly ScheduleView[]): {
  readonly plannable: readonly ScheduleView[]
  /** `unread`: the names of the unreadable options, if they are the problem. */
  readonly broken: readonly {
    readonly id: string
    readonly problem: string
    readonly unread: readonly string[]
  }[]
} {
  const plannable: ScheduleView[] = []
  const broken: { id: string; problem: string; unread: readonly string[] }[] = []
  for (const schedule of schedules) {
    const problem = problemIn(schedule)
    if (problem === null) plannable.push(schedule)
    else {
      const unread = unreadOptionsIn(schedule.triggers)?.options.unread ?? []
      broken.push({ id: schedule.id, problem, unread })
    }
  }
  return { plannable, broken }
}
