import type { JournalEntry, NewJournalEntry } from "../../core/records/journal.ts"
import type { Instant } from "../../core/time/instant.ts"
import type { JournalFilter, JournalPage } from "../../store/store.ts"
import { jsonText } from "../kit/isolation.ts"
import { isWantedEntry } from "../kit/journal-filter.ts"

export class Journal {
  readonly #entries = new Map<string, JournalEntry>()

  /** Throws if the entry can't be stored. Called before anything is written. */
  static check({ before, after }: NewJournalEntry): void {
    jsonText(before)
    jsonText(after)
  }

  add(entry: NewJournalEntry, now: Instant): void {
    if (!this.#entries.has(entry.id)) this.#entries.set(entry.id, { ...entry, at: now })
  }

  page(filter: JournalFilter, page: JournalPage): readonly JournalEntry[] {
    const { order, after, limit } = page
    const direction = order === "newest" ? -1 : 1
    const compare = (a: Place, b: Place) => direction * compareEntries(a, b)
    return [...this.#entries.values()]
      .filter((entry) => isWantedEntry(entry, filter) && isWithin(entry, page))
      .filter((entry) => after === null || compare(entry, after) > 0)
      .sort(compare)
      .slice(0, limit)
  }

  prune(olderThan: Instant, limit: number): number {
    const old = this.page({}, { order: "oldest", after: null, until: olderThan, limit })
    for (const { id } of old) this.#entries.delete(id)
    return old.length
  }
}

type Place = Pick<JournalEntry, "at" | "id">

function compareEntries(a: Place, b: Place): number {
  if (a.at !== b.at) return a.at - b.at
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1
}

function isWithin({ at }: JournalEntry, { from, until }: JournalPage): boolean {
  return (from === undefined || at >= from) && (until === undefined || at < until)
}
