import { defineSchedule } from "../../core/definition.ts"
import { unreadOptionsIn } from "../../core/unread-options.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { definitionOf, minimalOptions } from "../files/view-definition.ts"

/** Why a stored schedule can't be planned; null if it can. Checked as if it were made now, so nothing has to be due for it. */
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
    // The record may have been written by anybody, so anything may be wrong with it.
    return error instanceof Error ? error.message : String(error)
  }
}

/** Schedules that can be planned, and the others with their problems. */
export function sortedOut(schedules: readonly ScheduleView[]): {
  readonly sound: readonly ScheduleView[]
  /** `unread` names the options that can't be read, if it is those. */
  readonly broken: readonly {
    readonly id: string
    readonly problem: string
    readonly unread: readonly string[]
  }[]
} {
  const sound: ScheduleView[] = []
  const broken: { id: string; problem: string; unread: readonly string[] }[] = []
  for (const schedule of schedules) {
    const problem = problemIn(schedule)
    if (problem === null) sound.push(schedule)
    else {
      const unread = unreadOptionsIn(schedule.triggers)?.options.unread ?? []
      broken.push({ id: schedule.id, problem, unread })
    }
  }
  return { sound, broken }
}
