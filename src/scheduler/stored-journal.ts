import { type Checked, checked, type OptionSource, type OptionType } from "../core/options/checked.ts"
import { LOOKUP, PAGE } from "../core/options/limits.ts"
import { choice, instant, list } from "../core/options/option-types.ts"
import { JOURNAL_ACTIONS } from "../core/records/journal.ts"
import type { JournalFilter, Store } from "../store/store.ts"
import type { Journal, JournalEntryView, JournalQuery } from "./journal.ts"
import { cursor, isInstantPlace, type Listing, listing } from "./listing.ts"

export const JOURNAL_QUERY = {
  subject: LOOKUP,
  subjectId: LOOKUP,
  actions: list(choice(...JOURNAL_ACTIONS), { max: 50 }),
  by: LOOKUP,
  since: instant,
  until: instant,
  order: choice<"newest" | "oldest">("newest", "oldest"),
  limit: PAGE,
  cursor: cursor(isInstantPlace),
} satisfies Record<keyof JournalQuery, OptionType<unknown>>

export class StoredJournal implements Journal {
  readonly #store: Store
  readonly #ready: () => Promise<void>

  constructor(about: { store: Store; ready: () => Promise<void> }) {
    this.#store = about.store
    this.#ready = about.ready
  }

  list(query: JournalQuery = {}): Listing<JournalEntryView> {
    const given = checked(query, JOURNAL_QUERY, SOURCE)
    const { order = "newest", limit = 50, since, until, cursor } = given
    const from = since === undefined ? {} : { from: since }
    const bounds = until === undefined ? from : { ...from, until }
    const name = `journal by ${order}`
    return listing({
      name,
      limit,
      first: cursor?.(name) ?? null,
      read: async (after, size) => {
        await this.#ready()
        return this.#store.readJournal(filterOf(given), { ...bounds, order, after, limit: size })
      },
      placeOf: ({ at, id }) => ({ at, id }),
      show: (entry) => ({ ...entry, at: new Date(entry.at) }),
    })
  }
}

const SOURCE: OptionSource = { code: "BELFRY_SCHEDULER_INVALID", subject: "journal.list" }

function filterOf({ subject, subjectId, actions, by }: Checked<typeof JOURNAL_QUERY>): JournalFilter {
  return {
    ...(subject === undefined ? {} : { subject }),
    ...(subjectId === undefined ? {} : { subjectId }),
    ...(actions === undefined ? {} : { actions }),
    ...(by === undefined ? {} : { by }),
  }
}
