import { defineSchedule, newSchedule } from "../../core/definition.ts"
import type { ScheduleOptions } from "../../core/options.ts"
import { changedFields } from "../../core/reconcile.ts"
import type { ScheduleDefinition } from "../../core/schedule.ts"
import type { Trigger } from "../../core/timetable.ts"
import { type ScheduleView, scheduleView } from "../../scheduler/views.ts"

export { minimalOptions } from "../../core/minimal-options.ts"

/** The definition inside a view: what was decided about the schedule, without how far it has come. */
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

/** What a schedule would be, without making it: for a dry run. */
export function wouldBe(
  id: string,
  options: ScheduleOptions,
  about: { task: string; payload: unknown; now: number },
): ScheduleView {
  const definition = defineSchedule(options, { id, ...about, owner: null, release: 0 })
  // Nobody is asked who offers its task.
  return scheduleView(newSchedule(id, definition, about.now), new Set([about.task]), about.now)
}

export function differences(stored: ScheduleDefinition, wanted: ScheduleDefinition): readonly string[] {
  const { owner, release } = stored
  return changedFields(stored, { ...wanted, owner, release })
}
