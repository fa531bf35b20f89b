import { defineSchedule, newSchedule } from "../../core/options/definition.ts"
import type { ScheduleOptions } from "../../core/options/options.ts"
import { changedFields } from "../../core/schedule/reconcile.ts"
import type { ScheduleDefinition } from "../../core/schedule/schedule.ts"
import { storedSchedule } from "../../core/schedule/stored-schedule.ts"
import type { Trigger } from "../../core/schedule/timetable.ts"
import { type ScheduleView, scheduleView } from "../../scheduler/views.ts"

export { minimalOptions } from "../../core/options/minimal-options.ts"

/** The definition in a view, without the state of the schedule. */
export function definitionOf(view: ScheduleView): ScheduleDefinition {
  const { task, payload, timezone, dst, priority, jitterMs, spacingMs, maxRuns, removeWhenFinished } = view
  const { catchUp, overlap, maxConcurrentRuns, dependsOn, retry, timeoutMs, enabled } = view
  const { tags, description, owner, release } = view
  return {
    ...{ task, payload, timezone, dst, priority, jitterMs, spacingMs, maxRuns, removeWhenFinished },
    ...{ catchUp, overlap, maxConcurrentRuns, dependsOn, retry, timeoutMs, enabled },
    ...{ tags, description, owner, release },
    triggers: view.triggers.map(triggerOf),
    startsAt: view.startsAt?.getTime() ?? null,
    endsAt: view.endsAt?.getTime() ?? null,
  }
}

function triggerOf(trigger: ScheduleView["triggers"][number]): Trigger {
  if (trigger.kind === "at") return { kind: "at", at: trigger.at.getTime() }
  return trigger.kind === "every" ? { ...trigger, anchor: trigger.anchor?.getTime() ?? null } : trigger
}

/** The view of a schedule that is not stored, for a dry run. Throws if the definition is invalid. */
export function unstoredView(
  id: string,
  options: ScheduleOptions,
  about: { task: string; payload: unknown; now: number },
): ScheduleView {
  const definition = defineSchedule(options, { id, ...about, owner: null, release: 0 })
  // The task counts as offered, because the workers are not read here.
  const schedule = storedSchedule(newSchedule(id, definition, about.now), 0)
  return scheduleView(schedule, new Set([about.task]), about.now)
}

export function differences(stored: ScheduleDefinition, wanted: ScheduleDefinition): readonly string[] {
  const { owner, release } = stored
  return changedFields(stored, { ...wanted, owner, release })
}
