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

/** How a list is read. */
export interface Reading<Found, Place, Item> {
  /** The size of a page. */
  readonly limit: number
  /** The place before the first; null if it is the beginning. */
  readonly first: Place | null
  read(after: Place | null, size: number): Promise<readonly Found[]>
  placeOf(found: Found): Place
  show(found: Found): Item | Promise<Item>
}

export function listing<Found, Place, Item>(reading: Reading<Found, Place, Item>): Listing<Item> {
  const { limit, first, read, placeOf, show } = reading
  /** Of one more than is shown: that one says whether there is another page. */
  const pageAfter = async (after: Place | null) => {
    const found = await read(after, limit + 1)
    const shown = found.slice(0, limit)
    const items = await Promise.all(shown.map(show))
    return { items, last: found.length > limit ? placeOf(shown.at(-1)!) : null }
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
