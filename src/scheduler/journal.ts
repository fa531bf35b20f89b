import { type Checked, checked, type Door, type Kind } from "../core/checked.ts"
import type { JournalEntry } from "../core/journal.ts"
import { choice, instant, list } from "../core/kinds.ts"
import { LOOKUP, PAGE } from "../core/limits.ts"
import type { When } from "../core/options.ts"
import type { JournalFilter, Store } from "../store/store.ts"
import { cursor, type InstantPlace, isInstantPlace, Listing, pageOf } from "./listing.ts"

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

export const JOURNAL_QUERY = {
  subject: LOOKUP,
  subjectId: LOOKUP,
  actions: list(LOOKUP, { max: 50 }),
  by: LOOKUP,
  since: instant,
  until: instant,
  order: choice<"newest" | "oldest">("newest", "oldest"),
  limit: PAGE,
  cursor: cursor(isInstantPlace),
} satisfies Record<keyof JournalQuery, Kind<unknown>>

/** What people and deploys did. */
export class Journal {
  readonly #store: Store
  readonly #ready: () => Promise<void>

  constructor(about: { store: Store; ready: () => Promise<void> }) {
    this.#store = about.store
    this.#ready = about.ready
  }

  /** Schedules that were created, changed, steered or deleted, by whom, when and why, with what was there before and after. */
  list(query: JournalQuery = {}): Listing<JournalEntryView> {
    const given = checked(query, JOURNAL_QUERY, DOOR)
    const { order = "newest", limit = 50, since, until } = given
    const bounds = {
      ...(since === undefined ? {} : { from: since }),
      ...(until === undefined ? {} : { until }),
    }
    return new Listing(query.cursor ?? null, async (text) => {
      await this.#ready()
      const after = text === null ? null : checked({ cursor: text }, JOURNAL_QUERY, DOOR).cursor!
      const page = { ...bounds, order, after, limit: limit + 1 }
      const found = await this.#store.readJournal(filterOf(given), page)
      const { items, next } = pageOf(found, limit, ({ at, id }): InstantPlace => ({ at, id }))
      return { items: items.map((entry) => ({ ...entry, at: new Date(entry.at) })), next }
    })
  }
}

const DOOR: Door = { code: "BELFRY_SCHEDULER_INVALID", subject: "journal.list" }

function filterOf({ subject, subjectId, actions, by }: Checked<typeof JOURNAL_QUERY>): JournalFilter {
  return {
    ...(subject === undefined ? {} : { subject }),
    ...(subjectId === undefined ? {} : { subjectId }),
    ...(actions === undefined ? {} : { actions }),
    ...(by === undefined ? {} : { by }),
  }
}
