import type { JournalEntry } from "../../core/records/journal.ts"
import type { JournalFilter } from "../../store/store.ts"

/** For stores that filter entries in memory. */
export function isWantedEntry(
  entry: JournalEntry,
  { subject, subjectId, actions, by }: JournalFilter,
): boolean {
  return (
    (subject === undefined || entry.subject === subject) &&
    (subjectId === undefined || entry.subjectId === subjectId) &&
    (actions === undefined || actions.includes(entry.action)) &&
    (by === undefined || entry.by === by)
  )
}
