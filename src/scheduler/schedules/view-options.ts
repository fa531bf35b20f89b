import { minimalOptions } from "../../core/options/minimal-options.ts"
import type { ScheduleOptions } from "../../core/options/options.ts"
import type { ScheduleDefinition } from "../../core/schedule/schedule.ts"
import type { Trigger } from "../../core/schedule/timetable.ts"
import type { ScheduleView } from "../views.ts"
import { type ChangedValue, changedValues } from "./changed-values.ts"

/** The options that create the schedule again, beside its task and payload, without those that have their default value. */
export function optionsOfView(view: ScheduleView): ScheduleOptions {
  return minimalOptions(definitionOfView(view))
}

/** The options in which two views of a schedule differ. */
export function changesBetween(before: ScheduleView, after: ScheduleView): readonly ChangedValue[] {
  return changedValues(definitionOfView(before), definitionOfView(after))
}

function definitionOfView(view: ScheduleView): ScheduleDefinition {
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
