import type { NewJournalEntry } from "../records/journal.ts"
import { changedFields, definitionOf } from "../schedule/reconcile.ts"
import type { NewSchedule, Schedule, ScheduleProgress } from "../schedule/schedule.ts"
import { formatInstant } from "../time/instant.ts"
import type { Json } from "../values/json.ts"
import type { FirePlan } from "./plan.ts"
import type { Why } from "./steer.ts"

/**
 * The journal entries of a schedule's changes. The id of an entry contains the version that the change was based on, so no two
 * entries have the same id.
 */

export function createdEntry(schedule: NewSchedule, why: Why): NewJournalEntry {
  const name = `created ${formatInstant(schedule.createdAt)}`
  return entryOf(schedule.id, name, { action: "created", why, before: null, after: definitionOf(schedule) })
}

/** Contains only the changed fields. Undefined if nothing changed. */
export function updatedEntry(stored: Schedule, edited: NewSchedule, why: Why): NewJournalEntry | undefined {
  const fields = changedFields(definitionOf(stored), definitionOf(edited))
  if (fields.length === 0) return undefined
  const [before, after] = [picked(stored, fields), picked(edited, fields)]
  return entryOf(stored.id, `${stored.version}`, { action: "updated", why, before, after })
}

export function deletedEntry(stored: Schedule, why: Why): NewJournalEntry {
  const before = definitionOf(stored)
  return entryOf(stored.id, `${stored.version}`, { action: "deleted", why, before, after: null })
}

/** An operation such as a pause: the fields of the progress that it changes. */
export function steeredEntry(
  action: string,
  schedule: Schedule,
  { progress }: FirePlan,
  why: Why,
): NewJournalEntry {
  const fields = STEERED_FIELDS.filter((field) => !isSame(schedule[field], progress?.[field] ?? null))
  const before = picked(schedule, fields)
  const after = progress === null ? null : picked(progress, fields)
  return entryOf(schedule.id, `${schedule.version}`, { action, why, before, after })
}

const STEERED_FIELDS: readonly (keyof ScheduleProgress)[] = ["nextRunAt", "overrides", "paused", "finishedAt"]

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function picked(from: object, fields: readonly string[]): object {
  return Object.fromEntries(fields.map((field) => [field, (from as Record<string, unknown>)[field]]))
}

interface EntryContent {
  readonly action: string
  readonly why: Why
  readonly before: object | null
  readonly after: object | null
}

function entryOf(
  scheduleId: string,
  name: string,
  { action, why, before, after }: EntryContent,
): NewJournalEntry {
  return {
    id: `schedule ${scheduleId} ${name}`,
    action,
    subject: "schedule",
    subjectId: scheduleId,
    by: why.by,
    reason: why.reason,
    before: withoutLongFields(before),
    after: withoutLongFields(after),
  }
}

/** A payload may have a megabyte, and each change would store it twice. */
const FIELD_MAX_CHARACTERS = 65_536

function withoutLongFields(value: object | null): Json {
  if (value === null) return null
  return Object.fromEntries(
    Object.entries(value).map(([field, part]) => {
      const characters = JSON.stringify(part)?.length ?? 0
      return [
        field,
        characters > FIELD_MAX_CHARACTERS ? `(${characters} characters, too long for the journal)` : part,
      ]
    }),
  )
}
