import type { JournalEntry } from "../../core/journal.ts"
import { type Json, storedJson } from "../../core/json.ts"

/** An entry as its record says. What can't be read of it is null, and hides no other. */
export function readableEntry(
  about: Omit<JournalEntry, "before" | "after">,
  before: string | null,
  after: string | null,
): JournalEntry {
  return { ...about, before: jsonOrNull(before), after: jsonOrNull(after) }
}

function jsonOrNull(text: string | null): Json {
  try {
    return text === null ? null : (storedJson(text) as Json)
  } catch {
    return null
  }
}
