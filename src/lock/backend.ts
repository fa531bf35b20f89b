import { BelfryError } from "../core/errors.ts"
import type { OptionSource } from "../core/options/checked.ts"
import { duration } from "../core/options/option-types.ts"
import { DURATION_MAX } from "../core/time/duration.ts"
import { shown } from "../core/values/shown.ts"

/**
 * What a lock needs from a database. Each operation is atomic and uses the database's own clock. `laws.ts` has the cases that
 * every backend must pass.
 *
 * 1. Alone       A name has one holder at a time.
 * 2. Owned       Only the holder can extend or release a lock, and only while it holds the lock.
 * 3. Passing     A hold ends by itself when its time is up. The holder can then neither extend nor release it.
 * 4. Rising      Each new holder of a name gets a higher fence than every holder before it, while the database exists.
 * 5. Repeatable  Acquiring again with the same token is the same hold, so a lost answer does no harm.
 * 6. Exact       Names compare exactly: case, accents and spaces count.
 * 7. One clock   The backend's clock counts, and `forMs` is the remaining time by that clock.
 * 8. Clear       An invalid name, token or time is refused before anything happens.
 * 9. Open        Opening twice is the same as once. After `close` every call throws. No call takes longer than 5 s.
 */
export interface LockBackend {
  /** Connects to the database and creates what the locks need. */
  open(): Promise<void>
  /** Ends the connections. */
  close(): Promise<void>
  /**
   * Takes the lock if it is free, its time is up, or this token holds it already. In the last case its time starts again and
   * the fence stays the same.
   */
  acquire(name: string, token: string, ttlMs: number): Promise<AcquireAnswer>
  /** Starts the time again. False: this token doesn't hold the lock, or no longer holds it. */
  extend(name: string, token: string, ttlMs: number): Promise<boolean>
  /** Frees the lock. False: this token doesn't hold the lock, or no longer holds it. */
  release(name: string, token: string): Promise<boolean>
}

export type AcquireAnswer =
  | { readonly outcome: "acquired"; readonly fence: number }
  /** Another token holds the lock, and `forMs` of its time remain. */
  | { readonly outcome: "held"; readonly forMs: number }

export const LOCK_SOURCE: OptionSource = { code: "BELFRY_LOCK_INVALID", subject: "Lock" }
/** A shorter hold could end before its answer arrives. */
export const LOCK_TTL = duration({ min: 100 })

/** In UTF-16 code units, as JavaScript counts. Short enough for an index of any database. */
const TEXT_MAX = 255

/** For `acquire` and `extend`. */
export function assertHold(name: string, token: string, ttlMs: number): void {
  assertOwner(name, token)
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 1 || ttlMs > DURATION_MAX) {
    throw invalid(
      `Lock "${name}" can't be held for ${ttlMs} ms. The time is a whole number of milliseconds, at least 1.`,
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
  if (typeof text !== "string" || text === "")
    throw invalid(`A lock's ${what} is a string that isn't empty.`, what)
  if (text.length > TEXT_MAX) {
    throw invalid(
      `A lock's ${what} has at most ${TEXT_MAX} characters; ${shown(text)} has ${text.length}. Hash a longer ${what}.`,
      what,
    )
  }
  // Not every database can store these, and names that differ only in them would become the same name.
  if (text.includes("\0") || !text.isWellFormed()) {
    throw invalid(
      `A lock's ${what} can't contain NUL characters or unpaired surrogates: ${shown(text)}.`,
      what,
    )
  }
}

function invalid(message: string, option: string): BelfryError {
  return new BelfryError("BELFRY_LOCK_INVALID", message, { details: { option } })
}
