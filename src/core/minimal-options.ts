import { DEFAULT_RETRY, type RetryPolicy } from "./backoff.ts"
import { DEFAULT_DST } from "./cron/parse.ts"
import type { POLICY_OPTIONS, Policies } from "./definition.ts"
import { DAY, formatInstant, HOUR, type Instant, isInstant, MINUTE, SECOND } from "./instant.ts"
import type { Json } from "./json.ts"
import type { ScheduleOptions } from "./options.ts"
import { DEFAULT_CATCH_UP, usualLimit } from "./policies.ts"
import type { CatchUp, ScheduleDefinition } from "./schedule.ts"
import type { Trigger } from "./timetable.ts"
import { timesIn, unreadOptionsIn } from "./unread-options.ts"

/** Options as JSON can hold them. */
type Written = { readonly [option: string]: Json }

/**
 * The inverse of `defineSchedule`: the options that a person could have written to get this definition, without those that are
 * as they would be anyway. Durations and instants are in words: `10m`, `2026-03-29T01:00:00Z`.
 */
export function minimalOptions(definition: ScheduleDefinition): ScheduleOptions {
  const triggers = minimalTriggers(definition.triggers)
  const when = triggers.length === 1 ? triggers[0] : { triggers }
  return { ...when, ...minimalOptionsBesideTriggers(definition) } as ScheduleOptions
}

export function minimalTriggers(triggers: readonly Trigger[]): readonly Written[] {
  return timesIn(triggers).map(minimalTrigger)
}

/** Options that can't all be read are given as they are written: the door says what is wrong with them. */
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
    catchUp: leanCatchUp(policies.catchUp),
    overlap: leanOverlap(policies),
    maxConcurrentRuns: policies.maxConcurrentRuns ?? undefined,
    dependsOn:
      dependsOn.length === 0
        ? undefined
        : dependsOn.map((on) => ({ schedule: on.scheduleId, within: durationText(on.withinMs) })),
    retry: retry === null ? undefined : leanRetry(retry),
    timeout: timeoutMs === null ? undefined : durationText(timeoutMs),
  }
  return compact(all)
}

function minimalTrigger(trigger: Trigger): Written {
  if (trigger.kind === "at") return { at: instantText(trigger.at) }
  if (trigger.kind === "cron")
    return { cron: trigger.cron, ...(trigger.dayMatch === "either" ? {} : { dayMatch: trigger.dayMatch }) }
  // No door takes this: whoever reads it learns why it isn't there.
  if (trigger.kind === "unreadable") return { unreadable: trigger.why }
  const anchor = trigger.anchor === null ? {} : { anchor: instantText(trigger.anchor) }
  return { every: durationText(trigger.everyMs), ...anchor }
}

function leanCatchUp({ policy, graceMs, windowMs, limit }: CatchUp): Json | undefined {
  const usual = DEFAULT_CATCH_UP
  const more = compact({
    grace: graceMs === usual.graceMs ? undefined : durationText(graceMs),
    window: windowMs === usual.windowMs ? undefined : durationText(windowMs),
    limit: limit === usual.limit ? undefined : limit,
  })
  if (filled(more) !== undefined) return { policy, ...more }
  return policy === usual.policy ? undefined : policy
}

function leanOverlap({ overlap: { policy, limit }, catchUp }: Policies): Json | undefined {
  if (limit !== usualLimit(catchUp)) return { policy, limit }
  return policy === "skip" ? undefined : policy
}

/** Empty where it is the usual one: without it, the task's own would hold. */
function leanRetry({ baseMs, maxMs, ...rest }: RetryPolicy): Json {
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

/** What was written without our checks may be no instant; then it is given as it is. */
function instantText(instant: Instant): Json {
  return isInstant(instant) ? formatInstant(instant) : instant
}

const UNITS = [
  ["d", DAY],
  ["h", HOUR],
  ["m", MINUTE],
  ["s", SECOND],
] as const

/** Exactly, unlike what is written for people. */
function durationText(ms: number): Json {
  const unit = UNITS.find(([, size]) => ms % size === 0)
  return ms === 0 || unit === undefined ? ms : `${ms / unit[1]}${unit[0]}`
}
