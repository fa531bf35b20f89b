import { defineSchedule, newSchedule } from "../core/definition.ts"
import type { ScheduleOptions } from "../core/options.ts"
import { changedFields } from "../core/reconcile.ts"
import type { ScheduleDefinition } from "../core/schedule.ts"
import type { Trigger } from "../core/timetable.ts"
import { optionsOf } from "../scheduler/schedule-options.ts"
import { type ScheduleView, scheduleView } from "../scheduler/views.ts"

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

/** The options that would make it again, without those that are as they would be anyway. */
export function leanOptions(definition: ScheduleDefinition): ScheduleOptions {
  // The triggers are written below; one that can't be read must not hide the rest.
  const options = optionsOf({ ...definition, triggers: [] }) as Record<string, unknown>
  const usual = optionsOf(
    defineSchedule(
      { every: 60_000 },
      { id: "usual", task: "usual", payload: null, owner: null, release: 0, now: null },
    ),
  ) as Record<string, unknown>
  const lean = Object.entries(options).filter(
    ([name, value]) => name !== "triggers" && JSON.stringify(value) !== JSON.stringify(usual[name]),
  )
  const triggers = definition.triggers.map(leanTrigger)
  return {
    ...(triggers.length === 1 ? triggers[0] : { triggers }),
    ...Object.fromEntries(lean.map(readable)),
  }
}

function leanTrigger(trigger: Trigger): Record<string, unknown> {
  if (trigger.kind === "at") return { at: new Date(trigger.at).toISOString() }
  if (trigger.kind === "cron")
    return { cron: trigger.cron, ...(trigger.dayMatch === "either" ? {} : { dayMatch: trigger.dayMatch }) }
  if (trigger.kind === "unreadable") return { unreadable: trigger.why }
  const anchor = trigger.anchor === null ? {} : { anchor: new Date(trigger.anchor).toISOString() }
  return { every: durationText(trigger.everyMs), ...anchor }
}

const DURATIONS = new Set(["jitter", "spacing", "timeout", "grace", "window", "delay", "maxDelay", "within"])
const INSTANTS = new Set(["startsAt", "endsAt"])

/** Milliseconds are for programs: `10m` and `2026-03-29T01:00:00Z` mean the same and can be read. */
function readable([name, value]: readonly [string, unknown]): [string, unknown] {
  if (typeof value === "number" && DURATIONS.has(name)) return [name, durationText(value)]
  if (typeof value === "number" && INSTANTS.has(name)) return [name, new Date(value).toISOString()]
  if (Array.isArray(value)) return [name, value.map((entry) => readable(["", entry])[1])]
  if (typeof value === "object" && value !== null)
    return [name, Object.fromEntries(Object.entries(value).map(readable))]
  return [name, value]
}

/** Exactly, unlike what is written for people. */
function durationText(ms: number): string | number {
  const units = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
    ["s", 1_000],
  ] as const
  const unit = units.find(([, size]) => ms % size === 0)
  return ms === 0 || unit === undefined ? ms : `${ms / unit[1]}${unit[0]}`
}

/** What a schedule would be, without making it: for a dry run. */
export function wouldBe(
  id: string,
  options: ScheduleOptions,
  about: { task: string; payload: unknown; now: number },
): ScheduleView {
  const definition = defineSchedule(options, { id, ...about, owner: null, release: 0 })
  // Nobody is asked who offers its task.
  return scheduleView(newSchedule(id, definition, about.now), new Set([about.task]))
}

export function differences(stored: ScheduleDefinition, wanted: ScheduleDefinition): readonly string[] {
  const { owner, release } = stored
  return changedFields(stored, { ...wanted, owner, release })
}
