import type { Instant } from "../../core/instant.ts"
import type { DueSchedules } from "../../store/store.ts"

/**
 * How processes that wake for the same instant share what is due. A schedule belongs to one of a few shares, by its id. A read
 * takes shares that are free, and for a moment no other process is given schedules of them. So fifty processes read different
 * schedules from the first time on, though none of them knows how many there are. Only speed depends on it: the
 * compare-and-swap in `fire` decides.
 */
export interface Share {
  readonly share: number
  /** How many of the divided schedules belong to it. */
  readonly due: number
  /** The reader that took it last. */
  readonly givenTo: number
  readonly givenUntil: Instant
}

export const SHARES = 16
/** While others have shares too, a read takes no more than this. A process that is alone takes all. */
export const SHARES_BESIDE_OTHERS = 2
/** How many of the longest due schedules are divided. */
export const DIVIDED_MAX = 1_000

/** How long a share stays with its process: as long as firing all that is due takes on a busy machine. */
export const SHARE_MS = 100
export const SHARE_MS_EACH = 0.2
/** A share of schedules that were read ahead stays with its process for half the time that is left, but no longer than this. */
export const SHARE_AHEAD_MAX_MS = 500

/**
 * If a process dies or is slow, others are given its schedules after this long: a little after the rest was fired, or still in
 * time if they were read ahead.
 */
export function shareMsFor({ due, aheadMs }: { due: number; aheadMs: number }): number {
  return Math.floor(Math.max(SHARE_MS + due * SHARE_MS_EACH, Math.min(aheadMs / 2, SHARE_AHEAD_MAX_MS)))
}

/** A number that tells this process's shares from those of others. Two processes with the same number merely race. */
export function newReader(random: number): number {
  return 1 + Math.floor(random * (2 ** 31 - 1))
}

export interface Reading {
  readonly reader: number
  readonly now: Instant
}

/** The fullest shares that are free, as many as hold what the read may return. */
export function sharesToTake(
  shares: readonly Share[],
  { reader, now, limit }: Reading & { readonly limit: number },
): readonly Share[] {
  const free = shares.filter((share) => !isOfOthers(share, reader, now)).sort((a, b) => b.due - a.due)
  const most = free.length < shares.length ? SHARES_BESIDE_OTHERS : SHARES
  const taken: Share[] = []
  for (let due = 0; due < limit && taken.length < Math.min(free.length, most); ) {
    const next = free[taken.length]!
    taken.push(next)
    due += next.due
  }
  return taken
}

/** When to read again if not all were given: now if some are free, else when others should have fired theirs. Null if all were given. */
export function readAgainAt(
  shares: readonly Share[],
  given: number,
  { reader, now }: Reading,
): Instant | null {
  const others = shares.filter((share) => isOfOthers(share, reader, now))
  const dueOf = (some: readonly Share[]) => some.reduce((sum, { due }) => sum + due, 0)
  if (given + dueOf(others) < dueOf(shares)) return now
  return others.length === 0 ? null : Math.min(...others.map(({ givenUntil }) => givenUntil))
}

/** What is due already, and wasn't given, comes before what is due next. */
export function nextOf(
  next: { at: Instant | null; count: number },
  readAgainAt: Instant | null,
): Pick<DueSchedules, "nextDueAt" | "nextDueCount"> {
  const isAgain = readAgainAt !== null && (next.at === null || readAgainAt < next.at)
  return isAgain
    ? { nextDueAt: readAgainAt, nextDueCount: 0 }
    : { nextDueAt: next.at, nextDueCount: next.count }
}

function isOfOthers({ givenTo, givenUntil }: Share, reader: number, now: Instant): boolean {
  return givenTo !== reader && givenUntil > now
}
