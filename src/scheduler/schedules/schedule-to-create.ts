import { newSchedule, newScheduleDueNow } from "../../core/definition.ts"
import { BelfryError } from "../../core/errors.ts"
import { formatInstant, type Instant } from "../../core/instant.ts"
import { describeTriggers } from "../../core/new-run.ts"
import { NO_FACTS } from "../../core/plan.ts"
import type { Schedule, ScheduleDefinition } from "../../core/schedule.ts"
import { pause, type Why } from "../../core/steer.ts"

/** How a new schedule begins. */
export interface Beginning {
  readonly startImmediately?: boolean | undefined
  /** Null or nothing: it isn't paused. */
  readonly paused?: Partial<PauseAsked> | null | undefined
}

type PauseAsked = Why & { readonly until: Instant | null }

/** As it is written; refused if nothing would ever come of it. */
export function scheduleToCreate(
  id: string,
  definition: ScheduleDefinition,
  { startImmediately = false, paused = null }: Beginning,
  now: Instant,
): Schedule {
  const made = startImmediately ? newScheduleDueNow(id, definition, now) : newSchedule(id, definition, now)
  if (made.finishedAt !== null) throw nothingToCome(made, now)
  if (paused === null) return made
  const { progress } = pause(made, { until: null, reason: null, by: null, ...paused }, NO_FACTS, now)
  return { ...made, ...progress }
}

/** Such a schedule would never do anything: by what it is over is said. */
function nothingToCome({ id, triggers, endsAt }: Schedule, now: Instant): BelfryError {
  const isEnded = endsAt !== null && endsAt <= now
  const over = isEnded ? `endsAt ${formatInstant(endsAt)}` : describeTriggers(triggers)
  const single = triggers.every(({ kind }) => kind === "at") ? "at" : "triggers"
  return new BelfryError(
    "BELFRY_SCHEDULE_INVALID",
    `Schedule "${id}" has no occurrence to come: ${over} has passed.`,
    { details: { id, option: isEnded ? "endsAt" : single } },
  )
}
