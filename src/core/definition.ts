import { formatDuration, parseDuration } from "./duration.ts"
import { type Instant, parseInstant, SECOND } from "./instant.ts"
import { toPayload } from "./json.ts"
import type { ScheduleOptions, TriggerOptions } from "./options.ts"
import {
  catchUpOf,
  checkChoice,
  checkId,
  defineRetry,
  dependencyOf,
  dstOf,
  invalid,
  optionalCount,
  overlapOf,
  priorityOf,
} from "./policies.ts"
import type { Schedule, ScheduleDefinition } from "./schedule.ts"
import { planAnew } from "./steer.ts"
import { nextInTimetable, type Trigger } from "./timetable.ts"
import { zoneNamed } from "./zone.ts"

/** The door for schedules: what people write, checked and completed into a `ScheduleDefinition`. */

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
  checkKnown(id, options)
  const catchUp = catchUpOf(id, options.catchUp)
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
    overlap: overlapOf(id, options.overlap, catchUp),
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

const TRIGGER_OPTIONS = ["cron", "dayMatch", "every", "anchor", "at", "in"] as const
const OPTIONS: ReadonlySet<string> = new Set<keyof ScheduleOptions>([
  ...TRIGGER_OPTIONS,
  ...([
    "triggers",
    "timezone",
    "dst",
    "priority",
    "jitter",
    "spacing",
    "startsAt",
    "endsAt",
    "maxRuns",
  ] as const),
  ...([
    "removeWhenFinished",
    "catchUp",
    "overlap",
    "maxConcurrentRuns",
    "dependsOn",
    "retry",
    "timeout",
  ] as const),
  ...(["enabled", "tags", "description"] as const),
])

/** A misspelt option would otherwise be a policy that silently isn't there. */
function checkKnown(id: string, options: ScheduleOptions): void {
  const unknown = Object.keys(options).find((option) => !OPTIONS.has(option))
  if (unknown !== undefined)
    throw invalid(id, unknown, `is not an option. Known are ${[...OPTIONS].join(", ")}`)
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
