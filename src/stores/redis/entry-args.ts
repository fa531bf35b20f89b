import type { NewJournalEntry } from "../../core/records/journal.ts"
import { jsonText } from "../kit/isolation.ts"

/** The arguments of an entry for `lua/journal.ts`; empty strings without an entry. */
export function entryArgs(entry: NewJournalEntry | undefined): readonly string[] {
  if (entry === undefined) return ["", "", ""]
  const { id, ...rest } = entry
  return [id, entryListOf(entry), jsonText(rest)]
}

/** The list of all entries about one subject. */
export function entryListOf({ subject, subjectId }: Pick<NewJournalEntry, "subject" | "subjectId">): string {
  return `${subject}:${subjectId}`
}
