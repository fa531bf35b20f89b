import type { Instant } from "../time/instant.ts"
import type { Json } from "../values/json.ts"

/** What the journal records of a schedule. A newer version may record other actions. */
export type JournalAction =
  | "created"
  | "updated"
  | "deleted"
  | "paused"
  | "resumed"
  | "triggered"
  | "rescheduled"
  | "skipped"
  | "moved"
  | "restored"

export const JOURNAL_ACTIONS: readonly JournalAction[] = [
  "created",
  "updated",
  "deleted",
  "paused",
  "resumed",
  "triggered",
  "rescheduled",
  "skipped",
  "moved",
  "restored",
]

/** A change made by a person, a program or a deploy. Runs are not in the journal: each has its own history. */
export interface JournalEntry extends NewJournalEntry {
  readonly at: Instant
}

export interface NewJournalEntry {
  /** Made by the caller. An entry sent twice is stored once. */
  readonly id: string
  /** What was done, such as `paused`. */
  readonly action: string
  /** The kind of object that was changed, such as `schedule`. `subjectId` is its id. */
  readonly subject: string
  readonly subjectId: string
  readonly by: string | null
  readonly reason: string | null
  /** The changed values before and after. Null: the object did not exist. */
  readonly before: Json
  readonly after: Json
}
