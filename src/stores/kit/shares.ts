import type { Instant } from "../../core/time/instant.ts"
import type { DueSchedules } from "../../store/store.ts"

/**
 * Divides the due schedules among processes that wake for the same instant. Each schedule belongs to one of 16 shares, by its
 * id. A read takes free shares, and for 100 ms or more no other process is given their schedules. So fifty processes read
 * different schedules from the first read on, though no process knows how many there are. Only speed depends on shares: the
 * compare-and-swap in `fire` decides.
 */
export interface Share {
  readonly share: number
  /** How many of the divided schedules belong to the share. */
  readonly due: number
  /** The reader that took the share last. */
  readonly givenTo: number
  readonly givenUntil: Instant
}

export const SHARES = 16
/** The most that a read takes while other readers have shares. A single process takes all. */
export const SHARES_BESIDE_OTHERS = 2
/** How many of the longest due schedules are divided. */
export const DIVIDED_MAX = 1_000

/** How long a share stays with its process, plus a time for each due schedule: about what firing all takes on a busy machine. */
export const SHARE_MS = 100
export const SHARE_MS_EACH = 0.2
/** A share of schedules that were read ahead stays with its process for half of `aheadMs`, at most this long. */
export const SHARE_AHEAD_MAX_MS = 500

/**
 * If a process dies or is slow, other processes are given its schedules after this time: shortly after the rest was fired, or
 * still before they are due if they were read ahead.
 */
export function shareMsFor({ due, aheadMs }: { due: number; aheadMs: number }): number {
  return Math.floor(Math.max(SHARE_MS + due * SHARE_MS_EACH, Math.min(aheadMs / 2, SHARE_AHEAD_MAX_MS)))
}

/** The number that marks a process's shares. Two processes with the same number read the same schedules, and race in `fire`. */
export function newReader(random: number): number {
  return 1 + Math.floor(random * (2 ** 31 - 1))
}

export interface Reading {
  readonly reader: number
  readonly now: Instant
}

/** The fullest free shares, until they hold `limit` schedules. */
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

/** When to read due schedules that weren't given: now if some are free, else when another share ends. Null: all were given. */
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

/** Due schedules that weren't given come before the next due instant. */
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
