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
export class Listing<Item> implements PromiseLike<Page<Item>>, AsyncIterable<Item> {
  readonly #read: (cursor: string | null) => Promise<Page<Item>>
  readonly #cursor: string | null

  constructor(cursor: string | null, read: (cursor: string | null) => Promise<Page<Item>>) {
    this.#cursor = cursor
    this.#read = read
  }

  // biome-ignore lint/suspicious/noThenProperty: to be awaited is what it is for.
  then<Then = Page<Item>, Else = never>(
    onPage?: ((page: Page<Item>) => Then | PromiseLike<Then>) | null,
    onError?: ((error: unknown) => Else | PromiseLike<Else>) | null,
  ): Promise<Then | Else> {
    return this.#read(this.#cursor).then(onPage, onError)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for (let cursor = this.#cursor; ; ) {
      const { items, next } = await this.#read(cursor)
      yield* items
      if (next === null) return
      cursor = next
    }
  }
}

/** The page, of one more item than was asked for: that one says whether there is another page. */
export function pageOf<Item, Place>(
  found: readonly Item[],
  limit: number,
  placeOf: (item: Item) => Place,
): { items: readonly Item[]; next: string | null } {
  if (found.length <= limit) return { items: found, next: null }
  const items = found.slice(0, limit)
  return { items, next: cursorOf(placeOf(items.at(-1)!)) }
}

/** Opaque: what is in it may change with any release. */
export function cursorOf(place: unknown): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url")
}

/** A cursor as an option, read as the place that it stands for. */
export function cursor<Place>(isPlace: (place: unknown) => place is Place): Kind<Place> {
  return {
    allowed: "the `next` of a page before",
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
