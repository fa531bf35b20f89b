import type { JournalEntry } from "../../core/records/journal.ts"
import { type Json, storedJson } from "../../core/values/json.ts"

/** A journal entry from its stored parts. A part that can't be read is null, and other entries are still read. */
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
