import { unreadOptionsIn } from "../../core/schedule/unread-options.ts"
import type { ScheduleView } from "../../scheduler/views.ts"

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
  return {
    plannable: schedules.filter(({ lastError }) => lastError === null),
    broken: schedules.flatMap(({ id, lastError, triggers }) => {
      const unread = unreadOptionsIn(triggers)?.options.unread ?? []
      return lastError === null ? [] : [{ id, problem: lastError, unread }]
    }),
  }
}
