import { type OptionType, refusal } from "../core/options/checked.ts"

/** A page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** The cursor of the next page. Null: this is the last page. */
  readonly next: string | null
}

/**
 * A list that is read page by page. `await` reads the first page, or the one after `cursor`; `for await` reads all pages.
 * Nothing is read before that.
 */
export interface Listing<Item> extends PromiseLike<Page<Item>>, AsyncIterable<Item> {
  /** As those of a promise of the page. */
  readonly catch: Promise<Page<Item>>["catch"]
  readonly finally: Promise<Page<Item>>["finally"]
}

/** The first `limit` items of a list, in order. */
export async function collected<Item>(
  list: AsyncIterable<Item>,
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> {
  const items: Item[] = []
  if (limit === 0) return items
  for await (const item of list) if (items.push(item) >= limit) break
  return items
}

/** The source of a list. */
export interface ListSource<Stored, Place, Item> {
  /** The name of the list with its order. A cursor of another list is refused. */
  readonly name: string
  /** The size of a page. */
  readonly limit: number
  /** The list begins after this place. Null: at the beginning. */
  readonly first: Place | null
  read(after: Place | null, size: number): Promise<readonly Stored[]>
  placeOf(found: Stored): Place
  /** For a filter that the store doesn't support: records that don't match are left out. */
  matches?(found: Stored): boolean
  show(found: Stored): Item | Promise<Item>
}

export function listing<Stored, Place, Item>(source: ListSource<Stored, Place, Item>): Listing<Item> {
  const { name, first, show } = source
  const pageAfter = async (after: Place | null) => {
    const { matching, last } = await readPage(source, after)
    return { items: await Promise.all(matching.map(show)), last }
  }
  const pages = async function* () {
    for (let after = first; ; ) {
      const { items, last } = await pageAfter(after)
      yield* items
      if (last === null) return
      after = last
    }
  }
  const page = async (): Promise<Page<Item>> => {
    const { items, last } = await pageAfter(first)
    return { items, next: last === null ? null : cursorOf(name, last) }
  }
  return {
    // biome-ignore lint/suspicious/noThenProperty: a listing is made to be awaited.
    then: (onPage, onError) => page().then(onPage, onError),
    catch: (onError) => page().catch(onError),
    finally: (onEnd) => page().finally(onEnd),
    [Symbol.asyncIterator]: pages,
  }
}

/** At most this many records are read for one page. Then the page ends, even if it is short. */
const SCANNED_MAX = 10_000
/** With a filter that may leave out most records, this many are read at a time. */
const FILTERED_PAGE = 500

/**
 * One page, and the last place read. Null: no records follow. Reads one record more than it returns, to know whether any
 * follow.
 */
async function readPage<Stored, Place>(
  {
    limit,
    read,
    placeOf,
    matches,
  }: Pick<ListSource<Stored, Place, unknown>, "limit" | "read" | "placeOf" | "matches">,
  first: Place | null,
): Promise<{ matching: readonly Stored[]; last: Place | null }> {
  const size = matches === undefined ? limit + 1 : Math.max(limit + 1, FILTERED_PAGE)
  const matching: Stored[] = []
  let last = first
  for (let scanned = 0; scanned < SCANNED_MAX; scanned += size) {
    const found = await read(last, size)
    for (const each of found) {
      if (matching.length === limit) return { matching, last }
      last = placeOf(each)
      if (matches?.(each) ?? true) matching.push(each)
    }
    if (found.length < size) return { matching, last: null }
  }
  return { matching, last }
}

/** Opaque to callers: the content may change with any release. */
function cursorOf(name: string, place: unknown): string {
  return Buffer.from(JSON.stringify([name, place])).toString("base64url")
}

/** Returns the place in the named list. Throws if the cursor is of another list, or of the same list in another order. */
export type Cursor<Place> = (name: string) => Place

/** An option that takes a cursor. The order of the list is another option, so the place is read when both are known. */
export function cursor<Place>(isPlace: (place: unknown) => place is Place): OptionType<Cursor<Place>> {
  return {
    allowed: "the `next` of a page",
    read(value, at) {
      const wrong = () => refusal(at, "is not the `next` of a page of this list")
      const [list, place] = typeof value === "string" ? partsOf(value) : []
      if (!isPlace(place)) throw wrong()
      return (name) => {
        if (list !== name) throw wrong()
        return place
      }
    },
  }
}

function partsOf(text: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, "base64url").toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
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

/** A place in a list ordered by an instant that may be null, and then by id. */
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
