import type { Instant } from "../time/instant.ts"
import type { Json } from "../values/json.ts"

/** A small named record made by users, such as a calendar or a saved view. */
export interface Document extends NewDocument {
  /** Never repeats for a kind and id, even if the document is deleted and created again. */
  readonly version: number
  readonly createdAt: Instant
  readonly updatedAt: Instant
  /** Why the value can't be read. `value` is null then. */
  readonly problem: string | null
}

export interface NewDocument {
  readonly kind: string
  /** Unique within its kind. */
  readonly id: string
  /** Null deletes the document. */
  readonly value: Json
}
