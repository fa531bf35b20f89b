import type { NewJournalEntry } from "../../../core/records/journal.ts"
import { DATE_MAX } from "../../../core/records/valid-records.ts"
import type { NewSchedule } from "../../../core/schedule/schedule.ts"
import type { Instant } from "../../../core/time/instant.ts"
import type { Swap } from "../../../store/store.ts"
import type { Prepared } from "../prepared.ts"
import { scheduleValues, VERSION } from "../schedule-rows.ts"
import { addEntry } from "./journal.ts"
import { takeVersions } from "./versions.ts"

const SELECT_VERSION = `
  select ${VERSION} as version
  from belfry_schedules
  where id = ?`

// Not `insert or replace`, which deletes the row first, and its tags with it.
const UPSERT_SCHEDULE = `
  insert into belfry_schedules (id, version, revision, created_at, updated_at, declared_as, task, owner, next_run_at,
    covered_until, overrides, paused, fired_count, last_error, finished_at, definition)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (id) do update
  set (version, revision, created_at, updated_at, declared_as, task, owner, next_run_at, covered_until, overrides,
    paused, fired_count, last_error, finished_at, definition)
  = (excluded.version, excluded.revision, excluded.created_at, excluded.updated_at, excluded.declared_as, excluded.task,
    excluded.owner, excluded.next_run_at, excluded.covered_until, excluded.overrides, excluded.paused,
    excluded.fired_count, excluded.last_error, excluded.finished_at, excluded.definition),
    -- The store's own counts stay. Unreadable ones are reset, or they would keep the schedule unreadable for ever.
    run_count = case when run_count between 0 and ${Number.MAX_SAFE_INTEGER} then run_count else 0 end,
    last_run_at = case when last_run_at between ${-DATE_MAX} and ${DATE_MAX} then last_run_at end,
    last_ended_at = case when last_ended_at between ${-DATE_MAX} and ${DATE_MAX} then last_ended_at end,
    last_success_at = case when last_success_at between ${-DATE_MAX} and ${DATE_MAX} then last_success_at end,
    failures_in_a_row = case
      when failures_in_a_row between 0 and ${Number.MAX_SAFE_INTEGER} then failures_in_a_row
      else 0
    end`

const DELETE_TAGS = `
  delete from belfry_schedule_tags
  where schedule_id = ?`

const INSERT_TAGS = `
  insert or ignore into belfry_schedule_tags (tag, schedule_id)
  select value, ?
  from json_each(?)`

/** The write lock is held: the version read is the version replaced. */
export function putSchedule(
  connection: Prepared,
  schedule: NewSchedule,
  about: { ifVersion: number | null; entry: NewJournalEntry | undefined; now: Instant },
): Swap {
  const { ifVersion, entry, now } = about
  const row = connection.prepare(SELECT_VERSION).get(schedule.id) as { version: number } | undefined
  if ((row?.version ?? null) !== ifVersion) return { outcome: "stale" }
  const version = takeVersions(connection, 1)
  connection.prepare(UPSERT_SCHEDULE).run(...scheduleValues(schedule, version))
  if (row !== undefined) connection.prepare(DELETE_TAGS).run(schedule.id)
  if (schedule.tags.length > 0) {
    connection.prepare(INSERT_TAGS).run(schedule.id, JSON.stringify(schedule.tags))
  }
  if (entry !== undefined) addEntry(connection, entry, now)
  return { outcome: "done", version }
}
