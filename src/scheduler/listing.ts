import { type Kind, refusal } from "../core/checked.ts"

/** A page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** For the page after this one; null if this is the last. */
  readonly next: string | null
}

/**
 * A list, a page at a time: `await` gives the first page (or the one after `cursor`), and `for await` goes on through all of them.
 * Nothing is read before either is asked for.
 */
export interface Listing<Item> extends PromiseLike<Page<Item>>, AsyncIterable<Item> {}

/** The first of a list, in their order: at most so many. */
export async function collected<Item>(
  list: AsyncIterable<Item>,
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> {
  const items: Item[] = []
  if (limit === 0) return items
  for await (const item of list) if (items.push(item) >= limit) break
  return items
}

/** How a list is read. */
export interface Reading<Found, Place, Item> {
  /** The size of a page. */
  readonly limit: number
  /** The place before the first; null if it is the beginning. */
  readonly first: Place | null
  read(after: Place | null, size: number): Promise<readonly Found[]>
  placeOf(found: Found): Place
  /** For what the store can't tell apart: those that aren't wanted are left out. */
  wants?(found: Found): boolean
  show(found: Found): Item | Promise<Item>
}

export function listing<Found, Place, Item>(reading: Reading<Found, Place, Item>): Listing<Item> {
  const { first, show } = reading
  const pageAfter = async (after: Place | null) => {
    const { wanted, last } = await readPage(reading, after)
    return { items: await Promise.all(wanted.map(show)), last }
  }
  const pages = async function* () {
    for (let after = first; ; ) {
      const { items, last } = await pageAfter(after)
      yield* items
      if (last === null) return
      after = last
    }
  }
  return {
    // biome-ignore lint/suspicious/noThenProperty: to be awaited is what it is for.
    then: (onPage, onError) =>
      pageAfter(first)
        .then(({ items, last }): Page<Item> => ({ items, next: last === null ? null : cursorOf(last) }))
        .then(onPage, onError),
    [Symbol.asyncIterator]: pages,
  }
}

/** So many are looked through for one page; then the page is as short as it is. */
const LOOKED_THROUGH_MAX = 10_000
/** Where most may be left out, more are read at a time. */
const SEARCH_SIZE = 500

/** A page, and the last place looked at; null if nothing comes after it. One more than is shown is read: that says whether there is. */
async function readPage<Found, Place>(
  {
    limit,
    read,
    placeOf,
    wants,
  }: Pick<Reading<Found, Place, unknown>, "limit" | "read" | "placeOf" | "wants">,
  first: Place | null,
): Promise<{ wanted: readonly Found[]; last: Place | null }> {
  const size = wants === undefined ? limit + 1 : Math.max(limit + 1, SEARCH_SIZE)
  const wanted: Found[] = []
  let last = first
  for (let looked = 0; looked < LOOKED_THROUGH_MAX; looked += size) {
    const found = await read(last, size)
    for (const each of found) {
      if (wanted.length === limit) return { wanted, last }
      last = placeOf(each)
      if (wants?.(each) ?? true) wanted.push(each)
    }
    if (found.length < size) return { wanted, last: null }
  }
  return { wanted, last }
}

/** Opaque: what is in it may change with any release. */
function cursorOf(place: unknown): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url")
}

/** A cursor as an option, read as the place that it stands for. */
export function cursor<Place>(isPlace: (place: unknown) => place is Place): Kind<Place> {
  return {
    allowed: "the `next` of a page",
    read(value, at) {
      const place = typeof value === "string" ? placeIn(value) : undefined
      if (isPlace(place)) return place
      throw refusal(at, "is not the `next` of a page of this list")
    },
  }
}

function placeIn(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString())
  } catch {
    return undefined
  }
}

/** A place in a list that is ordered by an instant, and then by id. */
export interface InstantPlace {
  readonly at: number
  readonly id: string
}

export function isInstantPlace(place: unknown): place is InstantPlace {
  const { at, id } = Object(place) as Partial<InstantPlace>
  return typeof at === "number" && Number.isFinite(at) && typeof id === "string"
}

/** The same where some have no such instant. */
export interface MaybeInstantPlace {
  readonly at: number | null
  readonly id: string
}

export function isMaybeInstantPlace(place: unknown): place is MaybeInstantPlace {
  const { at, id } = Object(place) as Partial<MaybeInstantPlace>
  return typeof id === "string" && (at === null || isInstantPlace(place))
}

export function isText(place: unknown): place is string {
  return typeof place === "string"
}
