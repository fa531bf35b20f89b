import type { OptionSource } from "../core/checked.ts"
import { DURATION_MAX } from "../core/duration.ts"
import { BelfryError } from "../core/errors.ts"
import { duration } from "../core/kinds.ts"
import { shown } from "../core/shown.ts"

/**
 * What a lock needs of a database, each operation an atom, by the database's own clock. `laws.ts` proves it for every
 * backend.
 *
 * 1. Alone       A name has one holder at a time.
 * 2. Owned       Only the holder extends or releases, and only while it holds.
 * 3. Passing     A hold ends by itself when its time is up; its holder then has no rights left.
 * 4. Rising      Each new holder of a name has a higher fence than all before it, for as long as the database lives.
 * 5. Repeatable  Asking again with the same token is the same hold: a lost answer does no harm.
 * 6. Exact       Names compare exactly: case, accents, spaces.
 * 7. One clock   Time is the backend's, and `forMs` is what is left by it.
 * 8. Clear       What can't be a name, a token or a time is refused before anything happens.
 * 9. Open        Opening twice is opening once; after `close`, every call is a fault. No call takes longer than 5 s.
 */
export interface LockBackend {
  open(): Promise<void>
  close(): Promise<void>
  /**
   * Takes the lock if it is free, its time is up, or this token holds it already: then the time begins anew and the fence
   * stays.
   */
  acquire(name: string, token: string, ttlMs: number): Promise<AcquireAnswer>
  /** The time begins anew. False if this token doesn't hold the lock, or no longer. */
  extend(name: string, token: string, ttlMs: number): Promise<boolean>
  /** False if this token doesn't hold the lock, or no longer. */
  release(name: string, token: string): Promise<boolean>
}

export type AcquireAnswer =
  | { readonly outcome: "acquired"; readonly fence: number }
  /** By somebody else, who has this much time left. */
  | { readonly outcome: "held"; readonly forMs: number }

export const LOCK_SOURCE: OptionSource = { code: "BELFRY_LOCK_INVALID", subject: "Lock" }
/** A lock that is over before the answer arrives is held by nobody. */
export const LOCK_TTL = duration({ min: 100 })

/** In characters as JavaScript counts them: short enough for an index of any database. */
const TEXT_MAX = 255

/** For `acquire` and `extend`. */
export function assertHold(name: string, token: string, ttlMs: number): void {
  assertOwner(name, token)
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 1 || ttlMs > DURATION_MAX) {
    throw invalid(
      `A lock is held for at least 1 ms, in whole milliseconds; "${name}" was to be for ${ttlMs}.`,
      "ttl",
    )
  }
}

/** For `release`. */
export function assertOwner(name: string, token: string): void {
  assertText(name, "name")
  assertText(token, "token")
}

function assertText(text: string, what: string): void {
  if (typeof text !== "string" || text === "") throw invalid(`A lock's ${what} is text, and not empty.`, what)
  if (text.length > TEXT_MAX) {
    throw invalid(
      `A lock's ${what} has at most ${TEXT_MAX} characters; ${shown(text)} has ${text.length}. Hash what is longer.`,
      what,
    )
  }
  // Not every database can keep them, and two names that differ in nothing else would become one.
  if (text.includes("\0") || !text.isWellFormed()) {
    throw invalid(`A lock's ${what} can't have NUL characters or halves of characters: ${shown(text)}.`, what)
  }
}

function invalid(message: string, option: string): BelfryError {
  return new BelfryError("BELFRY_LOCK_INVALID", message, { details: { option } })
}
