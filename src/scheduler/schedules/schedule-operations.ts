import type { Checked } from "../../core/options/checked.ts"
import { pause, resume, type Why } from "../../core/planning/steer.ts"
import { deleteSchedule, noSchedule, type ScheduleOperation, steerSchedule } from "./change-schedule.ts"
import type { OperationOnMany } from "./steer-many.ts"
import { CHANGE_REASON, PAUSE_OPTIONS } from "./steering-options.ts"

/** The operations that can be made on one schedule or on many. */

export const MAY_FINISH = { mayFinish: true }

export function pauseOperation(given: Checked<typeof PAUSE_OPTIONS>): ScheduleOperation {
  const { until = null, reason = null, by = null } = given
  return {
    action: "paused",
    why: { reason, by },
    decide: (schedule, facts, now) => pause(schedule, { reason, by, until }, facts, now),
  }
}

export function resumeOperation(why: Why): ScheduleOperation {
  return { action: "resumed", why, decide: resume }
}

export const PAUSE_MANY: OperationOnMany<typeof PAUSE_OPTIONS> = {
  method: "pause",
  table: PAUSE_OPTIONS,
  appliesTo: ({ paused }) => paused === null,
  take: (store, id, given) => steerSchedule(store, id, pauseOperation(given)),
}

export const RESUME_MANY: OperationOnMany<typeof CHANGE_REASON> = {
  method: "resume",
  table: CHANGE_REASON,
  appliesTo: ({ paused }) => paused !== null,
  take: (store, id, { reason = null, by = null }) =>
    steerSchedule(store, id, resumeOperation({ reason, by }), MAY_FINISH),
}

export const DELETE_MANY: OperationOnMany<typeof CHANGE_REASON> = {
  method: "delete",
  table: CHANGE_REASON,
  async take(store, id, { reason = null, by = null }) {
    if (!(await deleteSchedule(store, id, { reason, by }))) throw noSchedule(id)
  },
}
