import { DEFAULT_RETRY, type RetryPolicy } from "./backoff.ts"
import type { DstPolicy } from "./cron/cron.ts"
import { DEFAULT_DST } from "./cron/parse.ts"
import { type Duration, formatDuration, parseDuration } from "./duration.ts"
import { BelfryError } from "./errors.ts"
import { DAY, type Instant, MINUTE, parseInstant, SECOND } from "./instant.ts"
import { toPayload } from "./json.ts"
import type { CatchUp, Dependency, Overlap, Schedule, ScheduleDefinition } from "./schedule.ts"
import { planAnew } from "./steer.ts"
import { nextInTimetable, type Trigger } from "./timetable.ts"
import { zoneNamed } from "./zone.ts"

/** The door for schedules: what people write, checked and completed into a `ScheduleDefinition`. */

export type When = Date | string | number

/** When it occurs: exactly one of these. */
export interface TriggerOptions {
  /** 5 fields, 6 with seconds, or a descriptor such as `@daily`. */
  readonly cron?: string
  /** What a day must match when a cron names both a day of the month and a weekday. */
  readonly dayMatch?: "either" | "both"
  /** An interval, counted from `anchor`, or `startsAt`, or the schedule's creation; it never drifts. */
  readonly every?: Duration
  readonly anchor?: When
  /** Once, at that instant. */
  readonly at?: When
  /** Once, this long from now. */
  readonly in?: Duration
}

export interface RetryOptions {
  /** In all, the first one included. */
  readonly attempts?: number
  readonly backoff?: "exponential" | "linear" | "fixed"
  /** The first delay. */
  readonly delay?: Duration
  readonly maxDelay?: Duration
  /** The share of each delay left to chance, 0 to 1. */
  readonly jitter?: number
}

export type PriorityOption = number | "low" | "normal" | "high"

export interface ScheduleOptions extends TriggerOptions {
  /** Several triggers instead of one: their occurrences add up. */
  readonly triggers?: readonly TriggerOptions[]
  /** IANA name; UTC unless said. */
  readonly timezone?: string
  readonly dst?: Partial<DstPolicy>
  readonly priority?: PriorityOption
  /** Spreads the due time: deterministic by schedule and occurrence, never past the next occurrence. */
  readonly jitter?: Duration
  /** Leaves out occurrences closer than this to the one before. */
  readonly spacing?: Duration
  readonly startsAt?: When
  readonly endsAt?: When
  readonly maxRuns?: number
  /** Delete the schedule when nothing more is to come. Its runs stay. */
  readonly removeWhenFinished?: boolean
  readonly catchUp?:
    | CatchUp["policy"]
    | { policy: CatchUp["policy"]; grace?: Duration; window?: Duration; limit?: number }
  readonly overlap?: Overlap["policy"] | { policy: "queue"; limit: number }
  readonly maxConcurrentRuns?: number
  readonly dependsOn?: readonly { schedule: string; within: Duration }[]
  readonly retry?: RetryOptions
  readonly timeout?: Duration
  readonly enabled?: boolean
  readonly tags?: readonly string[]
  readonly description?: string
}

/** What a definition is made from beside the options. */
export interface DefinitionContext {
  readonly id: string
  readonly task: string
  readonly payload: unknown
  readonly owner: string | null
  readonly release: number
  /** The store's now, for `in`; null where a definition must mean the same at every start. */
  readonly now: Instant | null
}

export function defineSchedule(options: ScheduleOptions, context: DefinitionContext): ScheduleDefinition {
  const { id } = context
  checkId(id)
  if (typeof context.task !== "string" || context.task === "") throw invalid(id, "task", "is empty")
  const catchUp = catchUpOf(options)
  const overlap = overlapOf(id, options)
  if (catchUp.policy === "all" && (overlap.policy === "skip" || overlap.policy === "replace")) {
    throw invalid(
      id,
      "catchUp",
      `"all" needs overlap "queue" or "allow": with "${overlap.policy}" only one run would remain`,
    )
  }
  const startsAt = options.startsAt === undefined ? null : parseInstant(options.startsAt, "startsAt")
  const endsAt = options.endsAt === undefined ? null : parseInstant(options.endsAt, "endsAt")
  if (startsAt !== null && endsAt !== null && endsAt < startsAt)
    throw invalid(id, "endsAt", "is before startsAt")
  const definition: ScheduleDefinition = {
    task: context.task,
    payload: toPayload(context.payload, `Payload of schedule "${id}"`),
    triggers: triggersOf(options, context),
    timezone: options.timezone ?? "UTC",
    dst: dstOf(id, options.dst ?? {}),
    priority: priorityOf(options.priority),
    jitterMs: options.jitter === undefined ? 0 : parseDuration(options.jitter, "jitter"),
    spacingMs: options.spacing === undefined ? 0 : parseDuration(options.spacing, "spacing"),
    startsAt,
    endsAt,
    maxRuns: optionalCount(id, "maxRuns", options.maxRuns),
    removeWhenFinished: options.removeWhenFinished ?? false,
    catchUp,
    overlap,
    maxConcurrentRuns: optionalCount(id, "maxConcurrentRuns", options.maxConcurrentRuns),
    dependsOn: (options.dependsOn ?? []).map((dependency) => dependencyOf(id, dependency)),
    retry: options.retry === undefined ? null : defineRetry(options.retry),
    timeoutMs: options.timeout === undefined ? null : parseDuration(options.timeout, "timeout"),
    enabled: options.enabled ?? true,
    tags: [...(options.tags ?? [])],
    description: options.description ?? "",
    owner: context.owner,
    release: context.release,
  }
  checkTimetable(id, definition)
  return definition
}

/** A schedule that has never been: planned from now, nothing fired. */
export function newSchedule(id: string, definition: ScheduleDefinition, now: Instant): Schedule {
  // `in: 0` is due at once: a single instant that is now hasn't passed.
  const isNow = definition.triggers.some((trigger) => trigger.kind === "at" && trigger.at === now)
  return planAnew(
    {
      ...definition,
      id,
      version: 0,
      revision: 1,
      createdAt: now,
      updatedAt: now,
      declaredAs: null,
      nextRunAt: null,
      coveredUntil: null,
      overrides: [],
      paused: null,
      runCount: 0,
      lastRunId: null,
      lastRunAt: null,
      lastError: null,
      finishedAt: null,
    },
    isNow ? now - 1 : now,
  )
}

export function checkId(id: string): void {
  if (typeof id === "string" && /^[A-Za-z0-9_-]{1,200}$/.test(id)) return
  throw new BelfryError(
    "BELFRY_SCHEDULE_INVALID",
    `Schedule id ${JSON.stringify(String(id).slice(0, 80))} is not valid: use 1 to 200 letters, digits, "_" and "-".`,
    { details: { field: "id", value: id } },
  )
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

function catchUpOf(options: ScheduleOptions): CatchUp {
  const given = typeof options.catchUp === "object" ? options.catchUp : { policy: options.catchUp ?? "once" }
  const { policy, grace = MINUTE, window = DAY, limit = 100 } = given
  if (!["once", "none", "all"].includes(policy))
    throw new BelfryError(
      "BELFRY_SCHEDULE_INVALID",
      `catchUp "${policy}" is unknown: use "once", "none" or "all".`,
    )
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000) {
    throw new BelfryError(
      "BELFRY_SCHEDULE_INVALID",
      `catchUp.limit is ${limit}; use a whole number from 1 to 1000.`,
    )
  }
  return {
    policy,
    graceMs: parseDuration(grace, "catchUp.grace"),
    windowMs: parseDuration(window, "catchUp.window"),
    limit,
  }
}

function dstOf(
  id: string,
  { gap = DEFAULT_DST.gap, overlap = DEFAULT_DST.overlap }: Partial<DstPolicy>,
): DstPolicy {
  checkChoice(id, "dst.gap", gap, ["after", "skip"])
  checkChoice(id, "dst.overlap", overlap, ["first", "second", "both"])
  return { gap, overlap }
}

function checkChoice(id: string, field: string, value: string, choices: readonly string[]): void {
  if (choices.includes(value)) return
  throw invalid(
    id,
    field,
    `"${value}" is unknown: use ${choices.map((choice) => `"${choice}"`).join(" or ")}`,
  )
}

function overlapOf(id: string, options: ScheduleOptions): Overlap {
  const { policy, limit } =
    typeof options.overlap === "object" ? options.overlap : { policy: options.overlap ?? "skip", limit: 1 }
  checkChoice(id, "overlap", policy, ["skip", "queue", "replace", "allow"])
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw invalid(id, "overlap.limit", `is ${limit}; use 1 to 100`)
  return { policy, limit }
}

function dependencyOf(id: string, { schedule, within }: { schedule: string; within: Duration }): Dependency {
  checkId(schedule)
  if (schedule === id) throw invalid(id, "dependsOn", "names the schedule itself")
  return { scheduleId: schedule, withinMs: parseDuration(within, "dependsOn.within") }
}

function optionalCount(id: string, field: string, value: number | undefined): number | null {
  if (value === undefined) return null
  if (Number.isInteger(value) && value >= 1) return value
  throw invalid(id, field, `is ${value}; use a whole number from 1 up`)
}

const TRIGGERS_MAX = 32

function triggersOf(options: ScheduleOptions, context: DefinitionContext): readonly Trigger[] {
  const { triggers } = options
  const hasOwn = [options.cron, options.every, options.at, options.in].some((given) => given !== undefined)
  if (triggers !== undefined && hasOwn)
    throw invalid(context.id, "triggers", "can't be given beside cron, every, at or in")
  const given = triggers ?? [options]
  if (given.length === 0 || given.length > TRIGGERS_MAX) {
    throw invalid(context.id, "triggers", `has ${given.length} entries; give 1 to ${TRIGGERS_MAX}`)
  }
  return given.map((trigger) => triggerOf(trigger, context))
}

function triggerOf(options: TriggerOptions, { id, now }: DefinitionContext): Trigger {
  const kinds = (["cron", "every", "at", "in"] as const).filter((kind) => options[kind] !== undefined)
  if (kinds.length !== 1) {
    const found = kinds.length === 0 ? "none" : kinds.join(" and ")
    throw invalid(id, "trigger", `must be exactly one of cron, every, at and in; found ${found}`)
  }
  if (options.cron !== undefined) {
    const { cron, dayMatch = "either" } = options
    checkChoice(id, "dayMatch", dayMatch, ["either", "both"])
    return { kind: "cron", cron, dayMatch }
  }
  if (options.at !== undefined) return { kind: "at", at: parseInstant(options.at, "at") }
  if (options.in !== undefined) {
    if (now === null)
      throw invalid(id, "in", "would mean another time at every start of the program: declare `at` instead")
    return { kind: "at", at: now + parseDuration(options.in, "in") }
  }
  const everyMs = parseDuration(options.every!, "every")
  if (everyMs < SECOND)
    throw invalid(id, "every", `is ${formatDuration(everyMs)}; the shortest interval is 1s`)
  return {
    kind: "every",
    everyMs,
    anchor: options.anchor === undefined ? null : parseInstant(options.anchor, "anchor"),
  }
}

/** Finds a bad cron or zone now, at the door; the zone also if only intervals are there, which don't look at it. */
function checkTimetable(id: string, definition: ScheduleDefinition): void {
  const { triggers, timezone, dst, startsAt, endsAt } = definition
  zoneNamed(timezone)
  nextInTimetable({ id, triggers, timezone, dst, startsAt, endsAt, anchor: startsAt ?? 0 }, startsAt ?? 0)
}

function invalid(id: string, field: string, problem: string): BelfryError {
  return new BelfryError("BELFRY_SCHEDULE_INVALID", `Schedule "${id}": ${field} ${problem}.`, {
    details: { id, field },
  })
}
