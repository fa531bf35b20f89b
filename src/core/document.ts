import type { Instant } from "./instant.ts"
import type { Json } from "./json.ts"

/** A small named record of people's own making, such as a calendar or a saved view. */
export interface Document extends NewDocument {
  /** Never repeats for a kind and id, even after the document was deleted and made again. */
  readonly version: number
  readonly createdAt: Instant
  readonly updatedAt: Instant
  /** Why its value can't be read, which is null then. */
  readonly problem: string | null
}

export interface NewDocument {
  readonly kind: string
  /** Among those of its kind. */
  readonly id: string
  /** Null is for a document that is to go. */
  readonly value: Json
}
