import type { Kind } from "../core/checked.ts"
import { SCHEDULE_OPTIONS } from "../core/definition.ts"
import { BelfryError } from "../core/errors.ts"
import { payload } from "../core/kinds.ts"
import type { ScheduleOptions, TriggerOptions } from "../core/options.ts"
import type { ScheduleDefinition } from "../core/schedule.ts"
import type { Trigger } from "../core/timetable.ts"

/** What may be changed of a schedule; null takes an option away. */
export type ScheduleChanges = {
  readonly [Option in keyof ScheduleOptions]?: ScheduleOptions[Option] | null
} & {
  readonly payload?: unknown
}

export const SCHEDULE_CHANGES = { ...SCHEDULE_OPTIONS, payload } satisfies Record<
  keyof ScheduleChanges,
  Kind<unknown>
>

const TRIGGERS = ["cron", "dayMatch", "every", "anchor", "at", "in", "triggers"] as const

/** The options that would define what is stored, with the changes laid over them. Only known options are looked at. */
export function changedOptions(stored: ScheduleDefinition, changes: ScheduleChanges): ScheduleOptions {
  // A new trigger replaces all there were: adding one is done by naming them all. So those that can't be read are mended.
  const isRetimed = TRIGGERS.some((option) => changes[option] !== undefined && changes[option] !== null)
  const merged: Record<string, unknown> = { ...optionsOf(isRetimed ? { ...stored, triggers: [] } : stored) }
  if (isRetimed) delete merged["triggers"]
  for (const option of Object.keys(SCHEDULE_OPTIONS) as (keyof ScheduleOptions)[]) {
    const value = changes[option]
    if (value === null) delete merged[option]
    else if (value !== undefined) merged[option] = value
  }
  return merged as ScheduleOptions
}

/** The inverse of `defineSchedule`. */
export function optionsOf(definition: ScheduleDefinition): ScheduleOptions {
  const { catchUp, overlap, retry } = definition
  return {
    triggers: definition.triggers.map(triggerOptions),
    timezone: definition.timezone,
    dst: definition.dst,
    priority: definition.priority,
    jitter: definition.jitterMs,
    spacing: definition.spacingMs,
    removeWhenFinished: definition.removeWhenFinished,
    catchUp: {
      policy: catchUp.policy,
      grace: catchUp.graceMs,
      window: catchUp.windowMs,
      limit: catchUp.limit,
    },
    overlap: overlap.policy === "queue" ? { policy: "queue", limit: overlap.limit } : overlap.policy,
    dependsOn: definition.dependsOn.map(({ scheduleId, withinMs }) => ({
      schedule: scheduleId,
      within: withinMs,
    })),
    enabled: definition.enabled,
    tags: definition.tags,
    description: definition.description,
    ...(definition.startsAt === null ? {} : { startsAt: definition.startsAt }),
    ...(definition.endsAt === null ? {} : { endsAt: definition.endsAt }),
    ...(definition.maxRuns === null ? {} : { maxRuns: definition.maxRuns }),
    ...(definition.maxConcurrentRuns === null ? {} : { maxConcurrentRuns: definition.maxConcurrentRuns }),
    ...(definition.timeoutMs === null ? {} : { timeout: definition.timeoutMs }),
    ...(retry === null
      ? {}
      : {
          retry: {
            attempts: retry.attempts,
            backoff: retry.backoff,
            delay: retry.baseMs,
            maxDelay: retry.maxMs,
            jitter: retry.jitter,
          },
        }),
  }
}

function triggerOptions(trigger: Trigger): TriggerOptions {
  if (trigger.kind === "cron") return { cron: trigger.cron, dayMatch: trigger.dayMatch }
  if (trigger.kind === "at") return { at: trigger.at }
  if (trigger.kind === "unreadable") {
    const text = `${trigger.why} Name its whole timetable anew, such as cron.`
    throw new BelfryError("BELFRY_SCHEDULE_INVALID", text)
  }
  return { every: trigger.everyMs, ...(trigger.anchor === null ? {} : { anchor: trigger.anchor }) }
}
