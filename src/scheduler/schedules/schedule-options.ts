import { BelfryError } from "../../core/errors.ts"
import {
  checked,
  isRecordLike,
  notAllowed,
  type OptionType,
  type RequiredOptionType,
} from "../../core/options/checked.ts"
import { POLICY_OPTIONS, SCHEDULE_OPTIONS } from "../../core/options/definition.ts"
import { TASK_NAME, taskOr } from "../../core/options/limits.ts"
import { minimalOptionsBesideTriggers, minimalTriggers } from "../../core/options/minimal-options.ts"
import { payload, required } from "../../core/options/option-types.ts"
import type { ScheduleOptions } from "../../core/options/options.ts"
import { scheduleSource } from "../../core/options/policies.ts"
import type { ScheduleDefinition } from "../../core/schedule/schedule.ts"
import { readableTriggers, unreadOptionsIn } from "../../core/schedule/unread-options.ts"
import type { AnyTask } from "../../task/task.ts"

/** The options that an update can change. Null removes an option. */
export type ScheduleChanges = {
  readonly [Option in keyof ScheduleOptions]?: ScheduleOptions[Option] | null
} & {
  readonly task?: AnyTask | string
  readonly payload?: unknown
}

export const SCHEDULE_CHANGES = { ...SCHEDULE_OPTIONS, task: taskOr(TASK_NAME), payload } satisfies Record<
  keyof ScheduleChanges,
  OptionType<unknown>
>

export const GIVEN_CHANGES: RequiredOptionType<object> = required({
  allowed: "an object of options",
  read(value, at) {
    if (isRecordLike(value)) return value
    throw notAllowed(value, GIVEN_CHANGES.allowed, at)
  },
})

const TRIGGERS = ["cron", "dayMatch", "every", "anchor", "at", "in", "triggers"] as const

/**
 * The options of the stored schedule, merged with the changes. An unreadable option is passed on as written unless it is
 * changed, so that the check of the definition reports what is wrong with it.
 */
export function changedOptions(stored: ScheduleDefinition, changes: ScheduleChanges): ScheduleOptions {
  // A new trigger replaces all stored triggers, including unreadable ones. To add a trigger, the caller gives all of them.
  const isRetimed = TRIGGERS.some((option) => changes[option] !== undefined && changes[option] !== null)
  const merged: Record<string, unknown> = {
    ...(isRetimed ? {} : { triggers: keptTriggers(stored) }),
    ...minimalOptionsBesideTriggers(stored),
  }
  const misplaced = misplacedIn(stored, changes)
  for (const name of misplaced) delete merged[name]
  const removed = TRIGGERS.find((option) => changes[option] === null && !misplaced.includes(option))
  if (!isRetimed && removed !== undefined) {
    const text = `${removed} can't be removed alone. Give the whole timetable again, for example cron.`
    throw new BelfryError("BELFRY_SCHEDULE_INVALID", text)
  }
  for (const option of Object.keys(SCHEDULE_OPTIONS) as (keyof ScheduleOptions)[]) {
    const value = changes[option]
    if (value === null) delete merged[option]
    else if (value !== undefined) merged[option] = value
  }
  return merged as ScheduleOptions
}

/** Unknown names among the options of a row written by SQL. An update must change or remove each of them. */
function misplacedIn({ triggers }: ScheduleDefinition, changes: ScheduleChanges): readonly string[] {
  const problem = unreadOptionsIn(triggers)
  if (problem === null) return []
  const misplaced = problem.options.unread.filter((name) => !Object.hasOwn(POLICY_OPTIONS, name))
  const left = misplaced.filter((name) => (changes as Record<string, unknown>)[name] === undefined)
  if (left.length === 0) return misplaced
  const text = `${problem.why} Remove ${left.join(", ")} in the same update.`
  throw new BelfryError("BELFRY_SCHEDULE_INVALID", text)
}

function keptTriggers({ triggers }: ScheduleDefinition): ReturnType<typeof minimalTriggers> {
  for (const trigger of readableTriggers(triggers)) {
    if (trigger.kind !== "unreadable") continue
    const text = `${trigger.why} Give its whole timetable again, for example cron.`
    throw new BelfryError("BELFRY_SCHEDULE_INVALID", text)
  }
  return minimalTriggers(triggers)
}

/**
 * The changes without the removals of unknown options. A row written by SQL may hold unknown options, and an update may remove
 * them. While `stored` is null the row is not read yet, so every such removal is accepted for now.
 */
export function checkableChanges(changes: ScheduleChanges, stored: ScheduleDefinition | null): unknown {
  const written = stored === null ? null : (unreadOptionsIn(stored.triggers)?.options.written ?? {})
  const removed = unknownRemovals(changes).filter(
    (option) => written === null || Object.hasOwn(written, option),
  )
  if (removed.length === 0) return changes
  return Object.fromEntries(Object.entries(changes).filter(([option]) => !removed.includes(option)))
}

/** Refuses unknown options, also those that the changes remove. */
export function checkChanges(changes: ScheduleChanges, stored: ScheduleDefinition, id: string): void {
  checked(checkableChanges(changes, stored), SCHEDULE_CHANGES, scheduleSource(id))
}

/** The names of unknown options that the changes remove. */
function unknownRemovals(changes: ScheduleChanges): readonly string[] {
  try {
    return Object.entries(changes)
      .filter(([option, value]) => value === null && !Object.hasOwn(SCHEDULE_CHANGES, option))
      .map(([option]) => option)
  } catch {
    // A proxy or a getter may throw, and null has no entries. The check of the options reports these.
    return []
  }
}
