import type { Instant } from "./instant.ts"
import type { Json } from "./json.ts"

/** What somebody did: a person, a program or a deploy. Runs have their own story, and aren't in the journal. */
export interface JournalEntry extends NewJournalEntry {
  readonly at: Instant
}

export interface NewJournalEntry {
  /** Made by the caller: the same entry sent twice is one. */
  readonly id: string
  /** What was done, such as `paused`. */
  readonly action: string
  /** The kind of thing that it was done to, such as `schedule`, and which one. */
  readonly subject: string
  readonly subjectId: string
  readonly by: string | null
  readonly reason: string | null
  /** What was there before and after, as far as it is different; null where there was nothing. */
  readonly before: Json
  readonly after: Json
}
