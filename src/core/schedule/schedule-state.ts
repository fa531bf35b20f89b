import { type Instant, SECOND } from "../time/instant.ts"
import type { Schedule } from "./schedule.ts"

/** The most important fact about a schedule, for people. */
export type ScheduleState = (typeof SCHEDULE_STATES)[number]

/** A schedule has the first state in this list that applies. */
export const SCHEDULE_STATES = [
  /** It can't be planned. */
  "broken",
  /** It has no more occurrences. */
  "finished",
  "disabled",
  "paused",
  /** It was due more than `OVERDUE_AFTER_MS` ago and no process has fired it. */
  "overdue",
  /** Its last run failed, not counting cancelled runs. */
  "failing",
  /** It never ran. */
  "new",
  "ok",
] as const

/** The states of schedules that fire. */
export const ACTIVE_STATES = ["overdue", "failing", "new", "ok"] as const satisfies readonly ScheduleState[]

export function isActive(state: ScheduleState): boolean {
  return (ACTIVE_STATES as readonly ScheduleState[]).includes(state)
}

/** After this time a process should have fired the schedule, even if all processes were restarted. */
export const OVERDUE_AFTER_MS = 120 * SECOND

export type StateParts = Pick<
  Schedule,
  "lastError" | "finishedAt" | "enabled" | "paused" | "nextRunAt" | "failuresInARow" | "lastRunAt"
>

export function scheduleStateOf(schedule: StateParts, now: Instant): ScheduleState {
  const { lastError, finishedAt, enabled, paused, nextRunAt, failuresInARow, lastRunAt } = schedule
  if (lastError !== null) return "broken"
  if (finishedAt !== null) return "finished"
  if (!enabled) return "disabled"
  if (paused !== null) return "paused"
  if (nextRunAt !== null && nextRunAt < now - OVERDUE_AFTER_MS) return "overdue"
  if (failuresInARow > 0) return "failing"
  return lastRunAt === null ? "new" : "ok"
}

export type ScheduleCounts = Record<ScheduleState, number>

export function noScheduleCounts(): ScheduleCounts {
  return { broken: 0, finished: 0, disabled: 0, paused: 0, overdue: 0, failing: 0, new: 0, ok: 0 }
}
