import { DEFAULT_RETRY, type RetryPolicy } from "./backoff.ts"
import type { DstPolicy } from "./cron/cron.ts"
import { DEFAULT_DST } from "./cron/parse.ts"
import { type Duration, parseDuration } from "./duration.ts"
import { BelfryError } from "./errors.ts"
import { DAY, MINUTE } from "./instant.ts"
import type { PriorityOption, RetryOptions, ScheduleOptions } from "./options.ts"
import type { CatchUp, Dependency, Overlap } from "./schedule.ts"

/** The door for policies: each option, checked and completed. Defaults are here and nowhere else. */

export function catchUpOf(id: string, option: ScheduleOptions["catchUp"]): CatchUp {
  const given = typeof option === "object" ? option : { policy: option ?? "once" }
  const { policy, grace = MINUTE, window = DAY, limit = 100 } = given
  checkChoice(id, "catchUp", policy, ["once", "none", "all"])
  checkCount(id, "catchUp.limit", limit, 1_000)
  return {
    policy,
    graceMs: parseDuration(grace, "catchUp.grace"),
    windowMs: parseDuration(window, "catchUp.window"),
    limit,
  }
}

export function dstOf(
  id: string,
  { gap = DEFAULT_DST.gap, overlap = DEFAULT_DST.overlap }: Partial<DstPolicy>,
): DstPolicy {
  checkChoice(id, "dst.gap", gap, ["after", "skip"])
  checkChoice(id, "dst.overlap", overlap, ["first", "second", "both"])
  return { gap, overlap }
}

export function checkChoice(id: string, field: string, value: string, choices: readonly string[]): void {
  if (choices.includes(value)) return
  throw invalid(
    id,
    field,
    `"${value}" is unknown: use ${choices.map((choice) => `"${choice}"`).join(" or ")}`,
  )
}

/** A queue holds one waiting run unless said; where every missed occurrence is to run, it holds as many as are kept. */
export function overlapOf(id: string, option: ScheduleOptions["overlap"], catchUp: CatchUp): Overlap {
  const usual = catchUp.policy === "all" ? Math.min(catchUp.limit, QUEUE_MAX) : 1
  const { policy, limit } = typeof option === "object" ? option : { policy: option ?? "skip", limit: usual }
  checkChoice(id, "overlap", policy, ["skip", "queue", "replace", "allow"])
  checkCount(id, "overlap.limit", limit, QUEUE_MAX)
  if (catchUp.policy === "all" && (policy === "skip" || policy === "replace")) {
    throw invalid(
      id,
      "catchUp",
      `"all" needs overlap "queue" or "allow": with "${policy}" only one run would remain`,
    )
  }
  return { policy, limit }
}

/** Well below what a plan sees of unfinished runs (`UNFINISHED_FACTS_MAX`), so that a full queue is noticed. */
const QUEUE_MAX = 50

function checkCount(id: string, field: string, value: number, max: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= max) return
  throw invalid(id, field, `is ${value}; use a whole number from 1 to ${max}`)
}

export function dependencyOf(
  id: string,
  { schedule, within }: { schedule: string; within: Duration },
): Dependency {
  checkId(schedule)
  if (schedule === id) throw invalid(id, "dependsOn", "names the schedule itself")
  return { scheduleId: schedule, withinMs: parseDuration(within, "dependsOn.within") }
}

export function optionalCount(id: string, field: string, value: number | undefined): number | null {
  if (value === undefined) return null
  if (Number.isInteger(value) && value >= 1) return value
  throw invalid(id, field, `is ${value}; use a whole number from 1 up`)
}

const PRIORITIES = { low: -10, normal: 0, high: 10 } as const

export function priorityOf(priority: PriorityOption | undefined): number {
  const value = typeof priority === "string" ? PRIORITIES[priority] : (priority ?? 0)
  if (Number.isInteger(value) && Math.abs(value) <= 1_000_000) return value
  throw new BelfryError(
    "BELFRY_RUN_INVALID",
    `Priority ${JSON.stringify(priority)} is not an integer between -1000000 and 1000000, nor "low", "normal" or "high".`,
  )
}

export function defineRetry(options: RetryOptions): RetryPolicy {
  const attempts = options.attempts ?? DEFAULT_RETRY.attempts
  const jitter = options.jitter ?? DEFAULT_RETRY.jitter
  const backoff = options.backoff ?? DEFAULT_RETRY.backoff
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > 1_000) {
    throw new BelfryError(
      "BELFRY_TASK_INVALID",
      `retry.attempts is ${attempts}; use a whole number from 1 to 1000.`,
    )
  }
  if (!(jitter >= 0 && jitter <= 1)) {
    throw new BelfryError("BELFRY_TASK_INVALID", `retry.jitter is ${jitter}; use a share from 0 to 1.`)
  }
  if (!["exponential", "linear", "fixed"].includes(backoff)) {
    throw new BelfryError(
      "BELFRY_TASK_INVALID",
      `retry.backoff is "${backoff}"; use "exponential", "linear" or "fixed".`,
    )
  }
  const baseMs =
    options.delay === undefined ? DEFAULT_RETRY.baseMs : parseDuration(options.delay, "retry.delay")
  const maxMs =
    options.maxDelay === undefined
      ? Math.max(DEFAULT_RETRY.maxMs, baseMs)
      : parseDuration(options.maxDelay, "retry.maxDelay")
  return { attempts, backoff, baseMs, maxMs, jitter }
}

export function checkId(id: string): void {
  if (typeof id === "string" && /^[A-Za-z0-9_-]{1,200}$/.test(id)) return
  throw new BelfryError(
    "BELFRY_SCHEDULE_INVALID",
    `Schedule id ${JSON.stringify(String(id).slice(0, 80))} is not valid: use 1 to 200 letters, digits, "_" and "-".`,
    { details: { field: "id", value: id } },
  )
}

export function invalid(id: string, field: string, problem: string): BelfryError {
  return new BelfryError("BELFRY_SCHEDULE_INVALID", `Schedule "${id}": ${field} ${problem}.`, {
    details: { id, field },
  })
}
