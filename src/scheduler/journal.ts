import type { JournalEntry } from "../core/journal.ts"
import type { When } from "../core/options.ts"
import type { Listing } from "./listing.ts"

/** Something that somebody did. */
export interface JournalEntryView extends Omit<JournalEntry, "at"> {
  readonly at: Date
}

export interface JournalQuery {
  /** The kind of thing that it was done to, such as `schedule`, and which one. */
  readonly subject?: string
  readonly subjectId?: string
  /** What was done, such as `paused`. */
  readonly actions?: readonly string[]
  readonly by?: string
  /** `since` itself is within, `until` is not. */
  readonly since?: When
  readonly until?: When
  /** The newest first unless said. */
  readonly order?: "newest" | "oldest"
  readonly limit?: number
  /** The `next` of the page before. */
  readonly cursor?: string
}

/** What people and deploys did. */
export interface Journal {
  /** Schedules that were created, changed, steered or deleted, by whom, when and why, with what was there before and after. */
  list(query?: JournalQuery): Listing<JournalEntryView>
}
