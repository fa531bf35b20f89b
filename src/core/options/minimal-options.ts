import { DEFAULT_DST } from "../cron/parse.ts"
import { DEFAULT_RETRY, type RetryPolicy } from "../run/backoff.ts"
import type { CatchUp, ScheduleDefinition } from "../schedule/schedule.ts"
import type { Trigger } from "../schedule/timetable.ts"
import { readableTriggers, unreadOptionsIn } from "../schedule/unread-options.ts"
import { DAY, formatInstant, HOUR, type Instant, isInstant, MINUTE, SECOND } from "../time/instant.ts"
import type { Json } from "../values/json.ts"
import type { POLICY_OPTIONS, Policies } from "./definition.ts"
import type { ScheduleOptions } from "./options.ts"
import { DEFAULT_CATCH_UP, usualLimit } from "./policies.ts"

/** Options as JSON. */
type Written = { readonly [option: string]: Json }

/**
 * The inverse of `defineSchedule`: the fewest options that give this definition. Defaults are left out. Durations and instants
 * are text: `10m`, `2026-03-29T01:00:00Z`.
 */
export function minimalOptions(definition: ScheduleDefinition): ScheduleOptions {
  const triggers = minimalTriggers(definition.triggers)
  const when = triggers.length === 1 ? triggers[0] : { triggers }
  return { ...when, ...minimalOptionsBesideTriggers(definition) } as ScheduleOptions
}

export function minimalTriggers(triggers: readonly Trigger[]): readonly Written[] {
  return readableTriggers(triggers).map(minimalTrigger)
}

/** If some options can't be read, all are returned as stored. `defineSchedule` then says what is wrong with them. */
export function minimalOptionsBesideTriggers(definition: ScheduleDefinition): Written {
  const { timezone, priority, enabled, tags, description } = definition
  const policies = unreadOptionsIn(definition.triggers)?.options.written ?? minimalPolicies(definition)
  const others = compact({
    timezone: timezone === "UTC" ? undefined : timezone,
    priority: priority === 0 ? undefined : priority,
    enabled: enabled ? undefined : false,
    tags: tags.length === 0 ? undefined : tags,
    description: description === "" ? undefined : description,
  })
  return { ...policies, ...others }
}

export function minimalPolicies(policies: Policies): Written {
  const { dst, startsAt, endsAt, dependsOn, retry, timeoutMs } = policies
  const all: Record<keyof typeof POLICY_OPTIONS, Json | undefined> = {
    dst: filled(differing(dst, DEFAULT_DST)),
    jitter: policies.jitterMs === 0 ? undefined : durationText(policies.jitterMs),
    spacing: policies.spacingMs === 0 ? undefined : durationText(policies.spacingMs),
    startsAt: startsAt === null ? undefined : instantText(startsAt),
    endsAt: endsAt === null ? undefined : instantText(endsAt),
    maxRuns: policies.maxRuns ?? undefined,
    removeWhenFinished: policies.removeWhenFinished ? true : undefined,
    catchUp: minimalCatchUp(policies.catchUp),
    overlap: minimalOverlap(policies),
    maxConcurrentRuns: policies.maxConcurrentRuns ?? undefined,
    dependsOn:
      dependsOn.length === 0
        ? undefined
        : dependsOn.map((on) => ({ schedule: on.scheduleId, within: durationText(on.withinMs) })),
    retry: retry === null ? undefined : minimalRetry(retry),
    timeout: timeoutMs === null ? undefined : durationText(timeoutMs),
  }
  return compact(all)
}

function minimalTrigger(trigger: Trigger): Written {
  if (trigger.kind === "at") return { at: instantText(trigger.at) }
  if (trigger.kind === "cron")
    return { cron: trigger.cron, ...(trigger.dayMatch === "either" ? {} : { dayMatch: trigger.dayMatch }) }
  // `defineSchedule` refuses this. It shows the reader why the trigger is missing.
  if (trigger.kind === "unreadable") return { unreadable: trigger.why }
  const anchor = trigger.anchor === null ? {} : { anchor: instantText(trigger.anchor) }
  return { every: durationText(trigger.everyMs), ...anchor }
}

function minimalCatchUp({ policy, graceMs, windowMs, limit }: CatchUp): Json | undefined {
  const usual = DEFAULT_CATCH_UP
  const more = compact({
    grace: graceMs === usual.graceMs ? undefined : durationText(graceMs),
    window: windowMs === usual.windowMs ? undefined : durationText(windowMs),
    limit: limit === usual.limit ? undefined : limit,
  })
  if (filled(more) !== undefined) return { policy, ...more }
  return policy === usual.policy ? undefined : policy
}

function minimalOverlap({ overlap: { policy, limit }, catchUp }: Policies): Json | undefined {
  // Only a queue has a limit.
  if (policy === "queue" && limit !== usualLimit(catchUp)) return { policy, limit }
  return policy === "skip" ? undefined : policy
}

/** An empty object if it is the default: without the option, the task's own retry policy would apply. */
function minimalRetry({ baseMs, maxMs, ...rest }: RetryPolicy): Json {
  const { baseMs: usualBaseMs, maxMs: usualMaxMs, ...usual } = DEFAULT_RETRY
  return compact({
    ...differing(rest, usual),
    delay: baseMs === usualBaseMs ? undefined : durationText(baseMs),
    maxDelay: maxMs === Math.max(usualMaxMs, baseMs) ? undefined : durationText(maxMs),
  })
}

function compact(options: { readonly [option: string]: Json | undefined }): Written {
  return Object.fromEntries(
    Object.entries(options).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  )
}

function differing(values: object, usual: object): Written {
  const same = new Map<string, Json>(Object.entries(usual))
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== same.get(name)))
}

function filled(options: Written): Written | undefined {
  return Object.keys(options).length === 0 ? undefined : options
}

/** A value written by SQL may not be an instant. Then it is returned unchanged. */
function instantText(instant: Instant): Json {
  return isInstant(instant) ? formatInstant(instant) : instant
}

const UNITS = [
  ["d", DAY],
  ["h", HOUR],
  ["m", MINUTE],
  ["s", SECOND],
] as const

/** Exact, unlike `formatDuration`. */
function durationText(ms: number): Json {
  const unit = UNITS.find(([, size]) => ms % size === 0)
  return ms === 0 || unit === undefined ? ms : `${ms / unit[1]}${unit[0]}`
}
