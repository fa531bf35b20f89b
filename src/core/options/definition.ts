import { DEFAULT_DST, EXPRESSION_MAX } from "../cron/parse.ts"
import { replan } from "../planning/steer.ts"
import { type NewSchedule, NO_PROGRESS, type ScheduleDefinition } from "../schedule/schedule.ts"
import { nextInTimetable, type Trigger } from "../schedule/timetable.ts"
import { type Instant, SECOND } from "../time/instant.ts"
import { zoneNamed } from "../time/zone.ts"
import { toPayload } from "../values/json.ts"
import {
  atOption,
  type Checked,
  checked,
  checkedValue,
  type OptionPath,
  type OptionSource,
  type OptionType,
  refusal,
} from "./checked.ts"
import { CONCURRENCY, DESCRIPTION, TAG, TAGS_MAX, TASK_NAME } from "./limits.ts"
import { choice, duration, flag, instant, integer, list, record, required, text } from "./option-types.ts"
import type { ScheduleOptions, TriggerOptions } from "./options.ts"
import {
  CATCH_UP,
  checkId,
  DEFAULT_CATCH_UP,
  DEPENDS_ON,
  DST,
  OVERLAP,
  overlapOf,
  PRIORITY,
  RETRY,
  scheduleSource,
} from "./policies.ts"

/** Checks the options of a schedule and completes them into a `ScheduleDefinition`. */

/** The inputs of a definition in addition to the options. */
export interface DefinitionContext {
  readonly id: string
  readonly task: string
  readonly payload: unknown
  readonly owner: string | null
  readonly release: number
  /** The store's current time, for `in`. Null: `in` is refused, because the definition must mean the same at every start. */
  readonly now: Instant | null
}

export function defineSchedule(options: ScheduleOptions, context: DefinitionContext): ScheduleDefinition {
  const source = scheduleSource(checkId(context.id))
  const task = checkedValue(context.task, required(TASK_NAME), { source, option: "task" })
  const given = checked(options, SCHEDULE_OPTIONS, source)
  const { overlap } = given
  if (overlap?.limit !== undefined && overlap.policy !== "queue")
    throw refusal({ source, option: "overlap.limit" }, `applies to queue, not to ${overlap.policy}`)
  const policies = policiesOf(given, source)
  if (policies.dependsOn.some(({ scheduleId }) => scheduleId === context.id))
    throw refusal({ source, option: "dependsOn" }, "names the schedule itself")
  const definition: ScheduleDefinition = {
    task,
    payload: toPayload(context.payload, `Payload of schedule "${context.id}"`),
    triggers: triggersOf(given, context, source),
    timezone: given.timezone ?? "UTC",
    priority: given.priority ?? 0,
    ...policies,
    enabled: given.enabled ?? true,
    tags: given.tags ?? [],
    description: given.description ?? "",
    owner: context.owner,
    release: context.release,
  }
  checkTimetable(context.id, definition, { source, isListed: given.triggers !== undefined })
  return definition
}

/** The policies of a definition: all but the task, the payload, the times and the owner. */
export type Policies = Pick<
  ScheduleDefinition,
  | ("dst" | "jitterMs" | "spacingMs" | "startsAt" | "endsAt" | "maxRuns" | "removeWhenFinished" | "catchUp")
  | ("overlap" | "maxConcurrentRuns" | "dependsOn" | "retry" | "timeoutMs")
>

export function policiesOf(given: Checked<typeof POLICY_OPTIONS>, source: OptionSource): Policies {
  const { startsAt = null, endsAt = null, catchUp = DEFAULT_CATCH_UP } = given
  if (startsAt !== null && endsAt !== null && endsAt < startsAt)
    throw refusal({ source, option: "endsAt" }, "is before startsAt")
  return {
    dst: given.dst ?? DEFAULT_DST,
    jitterMs: given.jitter ?? 0,
    spacingMs: given.spacing ?? 0,
    startsAt,
    endsAt,
    maxRuns: given.maxRuns ?? null,
    removeWhenFinished: given.removeWhenFinished ?? false,
    catchUp,
    overlap: overlapOf(given.overlap, catchUp, source),
    maxConcurrentRuns: given.maxConcurrentRuns ?? null,
    dependsOn: given.dependsOn ?? [],
    retry: given.retry ?? null,
    timeoutMs: given.timeout ?? null,
  }
}

/** A new schedule: planned from `now`, with nothing fired. */
export function newSchedule(id: string, definition: ScheduleDefinition, now: Instant): NewSchedule {
  // `in: 0` is due at once: an `at` equal to `now` has not passed.
  const isNow = definition.triggers.some((trigger) => trigger.kind === "at" && trigger.at === now)
  return replan(
    {
      ...definition,
      id,
      revision: 1,
      createdAt: now,
      updatedAt: now,
      declaredAs: null,
      ...NO_PROGRESS,
    },
    isNow ? now - 1 : now,
  )
}

/** A new schedule with an extra occurrence at its creation, so it fires at once. */
export function newScheduleDueNow(id: string, definition: ScheduleDefinition, now: Instant): NewSchedule {
  const schedule = newSchedule(id, definition, now)
  const first = { scheduledFor: now, dueAt: now, reason: "Started immediately", by: null }
  return { ...schedule, coveredUntil: now - 1, nextRunAt: now, finishedAt: null, overrides: [first] }
}

const TRIGGER_OPTIONS = {
  cron: text({ min: 1, max: EXPRESSION_MAX }),
  dayMatch: choice("either", "both"),
  every: duration({ min: SECOND }),
  anchor: instant,
  at: instant,
  in: duration(),
} satisfies Record<keyof TriggerOptions, OptionType<unknown>>

const TRIGGERS_MAX = 32

export const POLICY_OPTIONS = {
  dst: DST,
  jitter: duration(),
  spacing: duration(),
  startsAt: instant,
  endsAt: instant,
  maxRuns: integer(1, 1_000_000_000),
  removeWhenFinished: flag,
  catchUp: CATCH_UP,
  overlap: OVERLAP,
  maxConcurrentRuns: CONCURRENCY,
  dependsOn: DEPENDS_ON,
  retry: RETRY,
  timeout: duration({ min: 1 }),
} satisfies Partial<Record<keyof ScheduleOptions, OptionType<unknown>>>

export const SCHEDULE_OPTIONS = {
  ...TRIGGER_OPTIONS,
  triggers: list(record(TRIGGER_OPTIONS), { min: 1, max: TRIGGERS_MAX }),
  timezone: text({ min: 1, max: 100 }),
  priority: PRIORITY,
  ...POLICY_OPTIONS,
  enabled: flag,
  tags: list(TAG, { max: TAGS_MAX }),
  description: DESCRIPTION,
} satisfies Record<keyof ScheduleOptions, OptionType<unknown>>

type Given = Checked<typeof SCHEDULE_OPTIONS>
type GivenTrigger = Checked<typeof TRIGGER_OPTIONS>

const TRIGGER_KINDS = ["cron", "every", "at", "in"] as const

/** Options of a trigger that apply to one kind only. */
const KIND_OF = { dayMatch: "cron", anchor: "every" } as const
const DETAILS = Object.keys(KIND_OF) as (keyof typeof KIND_OF)[]

function triggersOf(given: Given, context: DefinitionContext, source: OptionSource): readonly Trigger[] {
  const { triggers } = given
  if (triggers === undefined) return [triggerOf(given, context, { source, option: "" })]
  if (TRIGGER_KINDS.some((kind) => given[kind] !== undefined))
    throw refusal({ source, option: "triggers" }, "can't be combined with cron, every, at or in")
  for (const option of DETAILS) {
    if (given[option] !== undefined)
      throw refusal(
        { source, option },
        "can't be combined with triggers: put it into the trigger that it applies to",
      )
  }
  return triggers.map((trigger, index) =>
    triggerOf(trigger, context, { source, option: `triggers[${index}].` }),
  )
}

function triggerOf(given: GivenTrigger, { now }: DefinitionContext, at: OptionPath): Trigger {
  const kinds = TRIGGER_KINDS.filter((kind) => given[kind] !== undefined)
  const { cron, dayMatch = "either", every, anchor = null } = given
  const refuse = (option: string, problem: string) =>
    refusal({ source: at.source, option: `${at.option}${option}` }, problem)
  // Reached also by an update of only a part of a trigger, which is refused: a new trigger replaces the stored ones.
  const part = kinds.length === 0 && DETAILS.find((option) => given[option] !== undefined)
  if (part)
    throw refuse(part, `needs ${KIND_OF[part]}, which is missing: give both, even to change only ${part}`)
  if (kinds.length !== 1) {
    const found = kinds.length === 0 ? "none" : kinds.join(" and ")
    // A declared schedule can't have `in`.
    const known = now === null ? "cron, every and at" : "cron, every, at and in"
    throw refuse("trigger", `must be exactly one of ${known}; found ${found}`)
  }
  for (const option of DETAILS) {
    if (given[option] !== undefined && KIND_OF[option] !== kinds[0])
      throw refuse(option, `applies to ${KIND_OF[option]}, not to ${kinds[0]}`)
  }
  if (cron !== undefined) return { kind: "cron", cron, dayMatch }
  if (every !== undefined) return { kind: "every", everyMs: every, anchor }
  if (given.at !== undefined) return { kind: "at", at: given.at }
  if (now === null)
    throw refuse("in", "would mean a different time at every start of the program: declare `at` instead")
  return { kind: "at", at: now + given.in! }
}

/** Refuses a bad cron or time zone at definition time. The zone is checked even if only intervals exist, which don't use it. */
function checkTimetable(
  id: string,
  { triggers, timezone, dst, startsAt, endsAt }: ScheduleDefinition,
  { source, isListed }: { source: OptionSource; isListed: boolean },
): void {
  atOption({ source, option: "timezone" }, () => zoneNamed(timezone))
  for (const [index, trigger] of triggers.entries()) {
    const option = isListed ? `triggers[${index}].${trigger.kind}` : trigger.kind
    const timetable = { id, triggers: [trigger], timezone, dst, startsAt, endsAt, anchor: 0 }
    atOption({ source, option }, () => nextInTimetable(timetable, 0))
  }
}
