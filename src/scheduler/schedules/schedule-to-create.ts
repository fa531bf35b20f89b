import { BelfryError } from "../../core/errors.ts"
import { newSchedule, newScheduleDueNow } from "../../core/options/definition.ts"
import { NO_FACTS } from "../../core/planning/plan.ts"
import { pause, type Why } from "../../core/planning/steer.ts"
import type { NewSchedule, ScheduleDefinition } from "../../core/schedule/schedule.ts"
import { storedSchedule } from "../../core/schedule/stored-schedule.ts"
import { describeTriggers } from "../../core/schedule/trigger-text.ts"
import { formatInstant, type Instant } from "../../core/time/instant.ts"

/** The initial state of a new schedule. */
export interface InitialState {
  readonly startImmediately?: boolean | undefined
  /** Null or undefined: not paused. */
  readonly paused?: Partial<RequestedPause> | null | undefined
}

type RequestedPause = Why & { readonly until: Instant | null }

/** The schedule to be stored. Throws if the schedule has no occurrence in the future. */
export function scheduleToCreate(
  id: string,
  definition: ScheduleDefinition,
  { startImmediately = false, paused = null }: InitialState,
  now: Instant,
): NewSchedule {
  const made = startImmediately ? newScheduleDueNow(id, definition, now) : newSchedule(id, definition, now)
  if (made.finishedAt !== null) throw noOccurrenceLeft(made, now)
  if (paused === null) return made
  const why = { until: null, reason: null, by: null, ...paused }
  // Only the progress of the plan is used, so the version doesn't matter.
  const { progress } = pause(storedSchedule(made, 0), why, NO_FACTS, now)
  return { ...made, ...progress }
}

/** The error names the option that lies in the past. */
function noOccurrenceLeft({ id, triggers, endsAt }: NewSchedule, now: Instant): BelfryError {
  const isEnded = endsAt !== null && endsAt <= now
  const passed = isEnded ? `endsAt ${formatInstant(endsAt)}` : describeTriggers(triggers)
  const trigger = triggers.every(({ kind }) => kind === "at") ? "at" : "triggers"
  return new BelfryError(
    "BELFRY_SCHEDULE_INVALID",
    `Schedule "${id}" has no occurrence to come: ${passed} has passed.`,
    { details: { id, option: isEnded ? "endsAt" : trigger } },
  )
}
