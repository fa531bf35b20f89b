import type { JournalEntry, NewJournalEntry } from "../../../core/records/journal.ts"
import type { Instant } from "../../../core/time/instant.ts"
import type { JournalFilter, JournalPage, PruneRequest } from "../../../store/store.ts"
import { jsonText } from "../../kit/isolation.ts"
import { readableEntry } from "../../kit/readable-entry.ts"
import type { Value } from "../driver.ts"
import type { Prepared } from "../prepared.ts"

const INSERT_ENTRY = `
  insert or ignore into belfry_journal (id, at, action, subject, subject_id, by_name, reason, before_value, after_value)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`

export function addEntry(connection: Prepared, entry: NewJournalEntry, now: Instant): void {
  const { id, action, subject, subjectId, by, reason, before, after } = entry
  connection
    .prepare(INSERT_ENTRY)
    .run(id, now, action, subject, subjectId, by, reason, jsonText(before), jsonText(after))
}

type EntryRow = readonly [
  id: string,
  at: number,
  action: string,
  subject: string,
  subjectId: string,
  by: string | null,
  reason: string | null,
  before: string,
  after: string,
]

export function readJournal(
  connection: Prepared,
  filter: JournalFilter,
  page: JournalPage,
): readonly JournalEntry[] {
  const { sql, values } = journalQuery(filter, page)
  return connection
    .rows<EntryRow>(sql, values)
    .map(([id, at, action, subject, subjectId, by, reason, before, after]) =>
      readableEntry({ id, at, action, subject, subjectId, by, reason }, before, after),
    )
}

/** By the index on subject and id if the filter has them, otherwise by the index on the instant. */
export function journalQuery(
  filter: JournalFilter,
  page: JournalPage,
): { sql: string; values: readonly Value[] } {
  const { subject, subjectId, actions, by } = filter
  const { order, after, from, until, limit } = page
  const conditions: string[] = []
  const values: Value[] = []
  const add = (sql: string, value: Value | undefined) => {
    if (value === undefined) return
    conditions.push(sql)
    values.push(value)
  }
  add("subject = ?", subject)
  add("subject_id = ?", subjectId)
  add("by_name = ?", by)
  add("action in (select value from json_each(?))", actions && JSON.stringify(actions))
  add("at >= ?", from)
  add("at < ?", until)
  if (after !== null) {
    conditions.push(`(at, id) ${order === "newest" ? "<" : ">"} (?, ?)`)
    values.push(after.at, after.id)
  }
  const direction = order === "newest" ? " desc" : ""
  const sql = `
  select id, at, action, subject, subject_id, by_name, reason, before_value, after_value
  from belfry_journal
  ${conditions.length === 0 ? "" : `where ${conditions.join("\n    and ")}`}
  order by at${direction}, id${direction}
  limit ?`
  return { sql, values: [...values, limit] }
}

export const DELETE_OLD_ENTRIES = `
  delete from belfry_journal
  where id in (select id from belfry_journal where at < ? order by at limit ?)`

export function pruneJournal(
  connection: Prepared,
  { journalOlderThanMs, limit }: PruneRequest,
  now: Instant,
): number {
  return Number(connection.prepare(DELETE_OLD_ENTRIES).run(now - journalOlderThanMs, limit).changes)
}
