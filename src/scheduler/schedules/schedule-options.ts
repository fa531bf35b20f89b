import { isRecordLike, type Kind, notAllowed, type RequiredKind } from "../../core/checked.ts"
import { POLICY_OPTIONS, SCHEDULE_OPTIONS } from "../../core/definition.ts"
import { BelfryError } from "../../core/errors.ts"
import { payload, required } from "../../core/kinds.ts"
import { TASK_NAME, taskOr } from "../../core/limits.ts"
import { minimalOptionsBesideTriggers, minimalTriggers } from "../../core/minimal-options.ts"
import type { ScheduleOptions } from "../../core/options.ts"
import type { ScheduleDefinition } from "../../core/schedule.ts"
import { timesIn, unreadOptionsIn } from "../../core/unread-options.ts"
import type { AnyTask } from "../../task/task.ts"

/** What may be changed of a schedule; null takes an option away. */
export type ScheduleChanges = {
  readonly [Option in keyof ScheduleOptions]?: ScheduleOptions[Option] | null
} & {
  readonly task?: AnyTask | string
  readonly payload?: unknown
}

export const SCHEDULE_CHANGES = { ...SCHEDULE_OPTIONS, task: taskOr(TASK_NAME), payload } satisfies Record<
  keyof ScheduleChanges,
  Kind<unknown>
>

export const GIVEN_CHANGES: RequiredKind<object> = required({
  allowed: "an object of options",
  read(value, at) {
    if (isRecordLike(value)) return value
    throw notAllowed(value, GIVEN_CHANGES.allowed, at)
  },
})

const TRIGGERS = ["cron", "dayMatch", "every", "anchor", "at", "in", "triggers"] as const

/**
 * The options that would define what is stored, with the changes laid over them. Options that can't be read are given as they
 * are written, unless they are changed: whoever defines the schedule by them is told what is wrong.
 */
export function changedOptions(stored: ScheduleDefinition, changes: ScheduleChanges): ScheduleOptions {
  // A new trigger replaces all there were: adding one is done by naming them all. So those that can't be read are mended.
  const isRetimed = TRIGGERS.some((option) => changes[option] !== undefined && changes[option] !== null)
  const merged: Record<string, unknown> = {
    ...(isRetimed ? {} : { triggers: keptTriggers(stored) }),
    ...minimalOptionsBesideTriggers(stored),
  }
  const misplaced = misplacedIn(stored, changes)
  for (const name of misplaced) delete merged[name]
  const taken = TRIGGERS.find((option) => changes[option] === null && !misplaced.includes(option))
  if (!isRetimed && taken !== undefined) {
    const text = `${taken} can't be taken away by itself. Name the whole timetable anew, such as cron.`
    throw new BelfryError("BELFRY_SCHEDULE_INVALID", text)
  }
  for (const option of Object.keys(SCHEDULE_OPTIONS) as (keyof ScheduleOptions)[]) {
    const value = changes[option]
    if (value === null) delete merged[option]
    else if (value !== undefined) merged[option] = value
  }
  return merged as ScheduleOptions
}

/** What a row has among its options and shouldn't: each has to be named, if only to take it away. */
function misplacedIn({ triggers }: ScheduleDefinition, changes: ScheduleChanges): readonly string[] {
  const problem = unreadOptionsIn(triggers)
  if (problem === null) return []
  const misplaced = problem.options.unread.filter((name) => !Object.hasOwn(POLICY_OPTIONS, name))
  const left = misplaced.filter((name) => (changes as Record<string, unknown>)[name] === undefined)
  if (left.length === 0) return misplaced
  const text = `${problem.why} Take ${left.join(", ")} away in the same step.`
  throw new BelfryError("BELFRY_SCHEDULE_INVALID", text)
}

function keptTriggers({ triggers }: ScheduleDefinition): ReturnType<typeof minimalTriggers> {
  for (const trigger of timesIn(triggers)) {
    if (trigger.kind !== "unreadable") continue
    const text = `${trigger.why} Name its whole timetable anew, such as cron.`
    throw new BelfryError("BELFRY_SCHEDULE_INVALID", text)
  }
  return minimalTriggers(triggers)
}

/**
 * Changes as they are checked. A row may hold what isn't an option, written without our checks, and that can be taken away like any
 * option. Before the schedule is read (null), nobody knows whether it does.
 */
export function checkableChanges(changes: ScheduleChanges, stored: ScheduleDefinition | null): unknown {
  const written = stored === null ? null : (unreadOptionsIn(stored.triggers)?.options.written ?? {})
  const taken = foreignIn(changes).filter((option) => written === null || Object.hasOwn(written, option))
  if (taken.length === 0) return changes
  return Object.fromEntries(Object.entries(changes).filter(([option]) => !taken.includes(option)))
}

/** The names that aren't options and are to be taken away. */
function foreignIn(changes: ScheduleChanges): readonly string[] {
  try {
    return Object.entries(changes)
      .filter(([option, value]) => value === null && !Object.hasOwn(SCHEDULE_CHANGES, option))
      .map(([option]) => option)
  } catch {
    // A proxy or a getter may throw anything, and null has no entries: the check tells what is wrong with them.
    return []
  }
}
