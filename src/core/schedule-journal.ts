import { formatInstant } from "./instant.ts"
import type { NewJournalEntry } from "./journal.ts"
import type { Json } from "./json.ts"
import type { FirePlan } from "./plan.ts"
import { changedFields, definitionOf } from "./reconcile.ts"
import type { Schedule, ScheduleProgress } from "./schedule.ts"
import type { Why } from "./steer.ts"

/**
 * What the journal says of the steps of a schedule. An entry is named after the version that its step was decided on: no two have the
 * same.
 */

export function createdEntry(schedule: Schedule, why: Why): NewJournalEntry {
  const name = `created ${formatInstant(schedule.createdAt)}`
  return entryOf(schedule.id, name, { action: "created", why, before: null, after: definitionOf(schedule) })
}

/** Only what is different; undefined if nothing is. */
export function updatedEntry(stored: Schedule, edited: Schedule, why: Why): NewJournalEntry | undefined {
  const fields = changedFields(definitionOf(stored), definitionOf(edited))
  if (fields.length === 0) return undefined
  const [before, after] = [picked(stored, fields), picked(edited, fields)]
  return entryOf(stored.id, `${stored.version}`, { action: "updated", why, before, after })
}

export function deletedEntry(stored: Schedule, why: Why): NewJournalEntry {
  const before = definitionOf(stored)
  return entryOf(stored.id, `${stored.version}`, { action: "deleted", why, before, after: null })
}

/** A step such as a pause: what it changes of how far the schedule has come. */
export function steeredEntry(
  action: string,
  schedule: Schedule,
  { progress }: FirePlan,
  why: Why,
): NewJournalEntry {
  const fields = STEERED.filter((field) => !isSame(schedule[field], progress?.[field] ?? null))
  const before = picked(schedule, fields)
  const after = progress === null ? null : picked(progress, fields)
  return entryOf(schedule.id, `${schedule.version}`, { action, why, before, after })
}

const STEERED: readonly (keyof ScheduleProgress)[] = ["nextRunAt", "overrides", "paused", "finishedAt"]

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function picked(from: object, fields: readonly string[]): object {
  return Object.fromEntries(fields.map((field) => [field, (from as Record<string, unknown>)[field]]))
}

interface SharedHint {
  readonly action: string
  readonly why: Why
  readonly before: object | null
  readonly after: object | null
}

function entryOf(
  scheduleId: string,
  name: string,
  { action, why, before, after }: SharedHint,
): NewJournalEntry {
  return {
    id: `schedule ${scheduleId} ${name}`,
    action,
    subject: "schedule",
    subjectId: scheduleId,
    by: why.by,
    reason: why.reason,
    before: kept(before),
    after: kept(after),
  }
}

/** A payload may have a megabyte, and it would be kept twice for each change. */
const KEPT_MAX = 65_536

function kept(value: object | null): Json {
  if (value === null) return null
  return Object.fromEntries(
    Object.entries(value).map(([field, part]) => {
      const characters = JSON.stringify(part)?.length ?? 0
      return [field, characters > KEPT_MAX ? `(${characters} characters, too long for the journal)` : part]
    }),
  )
}
