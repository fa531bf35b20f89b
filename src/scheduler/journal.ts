import type { When } from "../core/options/options.ts"
import type { JournalAction, JournalEntry } from "../core/records/journal.ts"
import type { Listing } from "./listing.ts"

/** One action of a person or a deploy. */
export interface JournalEntryView extends Omit<JournalEntry, "at"> {
  readonly at: Date
}

/** Which entries of the journal to list. */
export interface JournalQuery {
  /** The kind of record that was changed, such as `schedule`; `subjectId` is its id. */
  readonly subject?: string
  readonly subjectId?: string
  /** Only these actions. Default: all. */
  readonly actions?: readonly JournalAction[]
  readonly by?: string
  /** `since` is inclusive, `until` is exclusive. */
  readonly since?: When
  readonly until?: When
  /** Default `newest`: the newest first. */
  readonly order?: "newest" | "oldest"
  /** The size of a page. Default 50. */
  readonly limit?: number
  /** The `next` of the previous page. */
  readonly cursor?: string
}

/** The actions of people and deploys. */
export interface Journal {
  /** Lists each creation, change, operation or deletion of a schedule: by whom, when and why, with the values before and after. */
  list(query?: JournalQuery): Listing<JournalEntryView>
}
