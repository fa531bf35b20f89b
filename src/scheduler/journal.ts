import { type Checked, checked, type Door, type Kind } from "../core/checked.ts"
import type { JournalEntry } from "../core/journal.ts"
import { choice, instant, list } from "../core/kinds.ts"
import { LOOKUP, PAGE } from "../core/limits.ts"
import type { When } from "../core/options.ts"
import type { JournalFilter, Store } from "../store/store.ts"
import { cursor, isInstantPlace, type Listing, listing } from "./listing.ts"

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
    const { order = "newest", limit = 50, since, until, cursor } = given
    const from = since === undefined ? {} : { from: since }
    const bounds = until === undefined ? from : { ...from, until }
    return listing({
      limit,
      first: cursor ?? null,
      read: async (after, size) => {
        await this.#ready()
        return this.#store.readJournal(filterOf(given), { ...bounds, order, after, limit: size })
      },
      placeOf: ({ at, id }) => ({ at, id }),
      show: (entry) => ({ ...entry, at: new Date(entry.at) }),
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
