import { DEFAULT_DST } from "../cron/parse.ts"
import { CATCH_UP_LIMIT_MAX } from "../planning/catch-up.ts"
import { DEFAULT_RETRY, type RetryPolicy } from "../run/backoff.ts"
import type { CatchUp, Dependency, Overlap } from "../schedule/schedule.ts"
import { DAY, MINUTE } from "../time/instant.ts"
import {
  type Checked,
  checkedValue,
  notAllowed,
  type OptionSource,
  type OptionType,
  refusal,
} from "./checked.ts"
import { SCHEDULE_ID } from "./limits.ts"
import {
  choice,
  duration,
  integer,
  list,
  mapped,
  numberBetween,
  record,
  required,
  shortOr,
} from "./option-types.ts"
import type { RetryOptions } from "./options.ts"

/** Checks and completes the options of policies. All their defaults are here. */

export const CATCH_UP = mapped(
  shortOr("policy", {
    policy: required(choice<CatchUp["policy"]>("once", "none", "all")),
    grace: duration(),
    window: duration(),
    limit: integer(1, CATCH_UP_LIMIT_MAX),
  }),
  ({ policy, grace = MINUTE, window = DAY, limit = 100 }): CatchUp => ({
    policy,
    graceMs: grace,
    windowMs: window,
    limit,
  }),
)

export const DEFAULT_CATCH_UP: CatchUp = { policy: "once", graceMs: MINUTE, windowMs: DAY, limit: 100 }

export const DST = mapped(
  record({ gap: choice("after", "skip"), overlap: choice("first", "second", "both") }),
  ({ gap = DEFAULT_DST.gap, overlap = DEFAULT_DST.overlap }) => ({ gap, overlap }),
)

/** Well below `UNFINISHED_FACTS_MAX`, the number of unfinished runs that a plan sees, so that a full queue is detected. */
export const QUEUE_MAX = 50

export const OVERLAP_POLICY: OptionType<Overlap["policy"]> = choice("skip", "queue", "replace", "allow")

export const OVERLAP = shortOr("policy", {
  policy: required(OVERLAP_POLICY),
  limit: integer(1, QUEUE_MAX),
})

/** The default limit of a queue: one waiting run. With `catchUp: "all"`, as many as its limit. */
export function usualLimit(catchUp: CatchUp): number {
  return catchUp.policy === "all" ? Math.min(catchUp.limit, QUEUE_MAX) : 1
}

export function overlapOf(
  given: { readonly policy: Overlap["policy"]; readonly limit?: number | undefined } | undefined,
  catchUp: CatchUp,
  source: OptionSource,
): Overlap {
  const { policy, limit = usualLimit(catchUp) } = given ?? { policy: "skip" }
  if (catchUp.policy === "all" && (policy === "skip" || policy === "replace")) {
    throw refusal(
      { source, option: "catchUp" },
      `"all" needs overlap "queue" or "allow": with "${policy}" only one run would remain`,
    )
  }
  return { policy, limit }
}

const DEPENDENCIES_MAX = 32

export const DEPENDS_ON = list(
  mapped(
    record({ schedule: required(SCHEDULE_ID), within: required(duration()) }),
    ({ schedule, within }): Dependency => ({ scheduleId: schedule, withinMs: within }),
  ),
  { max: DEPENDENCIES_MAX },
)

const PRIORITIES = { low: -10, normal: 0, high: 10 } as const
const PRIORITY_NUMBER = integer(-1_000_000, 1_000_000)
const PRIORITY_NAME = choice(...(Object.keys(PRIORITIES) as (keyof typeof PRIORITIES)[]))

export const PRIORITY: OptionType<number> = {
  allowed: `${PRIORITY_NAME.allowed}, or ${PRIORITY_NUMBER.allowed}`,
  read(value, at) {
    if (typeof value === "number") return PRIORITY_NUMBER.read(value, at)
    if (typeof value === "string" && Object.hasOwn(PRIORITIES, value))
      return PRIORITIES[value as keyof typeof PRIORITIES]
    throw notAllowed(value, PRIORITY.allowed, at)
  },
}

const RETRY_TABLE = {
  attempts: integer(1, 1_000),
  backoff: choice("exponential", "linear", "fixed"),
  delay: duration(),
  maxDelay: duration(),
  jitter: numberBetween(0, 1, "a number from 0 to 1"),
} satisfies Record<keyof RetryOptions, OptionType<unknown>>

export const RETRY: OptionType<RetryPolicy> = mapped(record(RETRY_TABLE), retryOf)

function retryOf(given: Checked<typeof RETRY_TABLE>): RetryPolicy {
  const { attempts, backoff, jitter } = DEFAULT_RETRY
  const { delay: baseMs = DEFAULT_RETRY.baseMs, maxDelay = Math.max(DEFAULT_RETRY.maxMs, baseMs) } = given
  return {
    attempts: given.attempts ?? attempts,
    backoff: given.backoff ?? backoff,
    baseMs,
    maxMs: maxDelay,
    jitter: given.jitter ?? jitter,
  }
}

/** The source of a schedule's options, for error messages. */
export function scheduleSource(id: string): OptionSource {
  return { code: "BELFRY_SCHEDULE_INVALID", subject: `Schedule "${id}"`, details: { id } }
}

const ID_SOURCE: OptionSource = { code: "BELFRY_SCHEDULE_INVALID", subject: "Schedule" }

export function checkId(id: unknown): string {
  return checkedValue(id, required(SCHEDULE_ID), { source: ID_SOURCE, option: "id" })
}
