import type { NewJournalEntry } from "../../core/journal.ts"
import { jsonText } from "../kit/isolation.ts"

/** As `lua/journal.ts` takes an entry, or none. */
export function entryArgs(entry: NewJournalEntry | undefined): readonly string[] {
  if (entry === undefined) return ["", "", ""]
  const { id, ...rest } = entry
  return [id, entryListOf(entry), jsonText(rest)]
}

/** Which entries are about the same thing. */
export function entryListOf({ subject, subjectId }: Pick<NewJournalEntry, "subject" | "subjectId">): string {
  return `${subject}:${subjectId}`
}
