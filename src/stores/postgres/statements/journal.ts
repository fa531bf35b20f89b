import type { JournalEntry, NewJournalEntry } from "../../../core/records/journal.ts"
import type { JournalFilter, JournalPage } from "../../../store/store.ts"
import { jsonText } from "../../kit/isolation.ts"
import { readableEntry } from "../../kit/readable-entry.ts"
import type { Runner } from "../database.ts"
import { type ListColumn, listsOf, rowsOfLists } from "../lists.ts"
import { instantFrom, instantOf, ms, NOW, spanFrom } from "../rows.ts"

const COLUMNS = "id, action, subject, subject_id, by_name, reason, before_value, after_value, at"

const ENTRY: readonly ListColumn<NewJournalEntry>[] = [
  ["id", "text", ({ id }) => id],
  ["action", "text", ({ action }) => action],
  ["subject", "text", ({ subject }) => subject],
  ["subject_id", "text", ({ subjectId }) => subjectId],
  ["by_name", "text", ({ by }) => by],
  ["reason", "text", ({ reason }) => reason],
  ["before_value", "text", ({ before }) => jsonText(before)],
  ["after_value", "text", ({ after }) => jsonText(after)],
]

/** Inserts entries from lists. Their parameters begin at `first`. `join`: SQL that selects entries by their place. */
export const insertEntries = (first: number, join = "") => `
    insert into belfry.journal (${COLUMNS})
    select e.id, e.action, e.subject, e.subject_id, e.by_name, e.reason, e.before_value::jsonb, e.after_value::jsonb, (select ${NOW})
    from (${rowsOfLists(ENTRY, first)}) as e
    ${join}
    order by e.place
    on conflict (id) do nothing`

export function entryLists(entries: readonly NewJournalEntry[]): readonly unknown[] {
  return listsOf(ENTRY, entries)
}

const INSERT_ENTRIES = insertEntries(1)

export async function appendEntries(runner: Runner, entries: readonly NewJournalEntry[]): Promise<void> {
  if (entries.length > 0) await runner.rows(INSERT_ENTRIES, entryLists(entries))
}

export async function readJournal(
  runner: Runner,
  filter: JournalFilter,
  page: JournalPage,
): Promise<readonly JournalEntry[]> {
  const { text, values } = journalQuery(filter, page)
  const rows = await runner.rows(text, values)
  return rows.map(([id, action, subject, subjectId, by, reason, before, after, at]) =>
    readableEntry(
      {
        ...{ id: id!, action: action!, subject: subject!, subjectId: subjectId! },
        ...{ by: by!, reason: reason!, at: instantOf(at!) },
      },
      before!,
      after!,
    ),
  )
}

/** By the index on subject and id if the filter has them, otherwise by the index on the instant. */
export function journalQuery(
  { subject, subjectId, actions, by }: JournalFilter,
  { order, after, from, until, limit }: JournalPage,
): { text: string; values: readonly unknown[] } {
  const values: unknown[] = []
  const conditions: string[] = []
  const parameter = (value: unknown) => `$${values.push(value)}`
  if (subject !== undefined) conditions.push(`j.subject = ${parameter(subject)}`)
  if (subjectId !== undefined) conditions.push(`j.subject_id = ${parameter(subjectId)}`)
  if (actions !== undefined) conditions.push(`j.action = any (${parameter(actions)}::text[])`)
  if (by !== undefined) conditions.push(`j.by_name = ${parameter(by)}`)
  if (from !== undefined) conditions.push(`j.at >= ${instantFrom(parameter(from))}`)
  if (until !== undefined) conditions.push(`j.at < ${instantFrom(parameter(until))}`)
  if (after !== null) {
    const place = `(${instantFrom(parameter(after.at))}, ${parameter(after.id)})`
    conditions.push(`(j.at, j.id) ${order === "newest" ? "<" : ">"} ${place}`)
  }
  const direction = order === "newest" ? " desc" : ""
  return {
    text: `
  select j.id, j.action, j.subject, j.subject_id, j.by_name, j.reason, j.before_value, j.after_value, ${ms("j.at")}
  from belfry.journal as j
  ${conditions.length === 0 ? "" : `where ${conditions.join("\n    and ")}`}
  order by j.at${direction}, j.id${direction}
  limit ${parameter(limit)}`,
    values,
  }
}

/** By ctid: with a list of ids, the planner would compare the list with every row. */
const DELETE_OLD_ENTRIES = `
  delete from belfry.journal
  where ctid = any (array(
    select j.ctid
    from belfry.journal as j
    where j.at < (select ${NOW} - ${spanFrom("$1")})
    order by j.at
    limit $2
  ))
  returning 1`

export async function pruneJournal(runner: Runner, olderThanMs: number, limit: number): Promise<number> {
  return (await runner.rows(DELETE_OLD_ENTRIES, [olderThanMs, limit])).length
}
