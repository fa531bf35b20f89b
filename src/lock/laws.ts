import { CLEAR, EXACT, ONE_CLOCK, OPEN } from "./laws/asking.ts"
import { REPEATABLE, RISING } from "./laws/fencing.ts"
import { ALONE, OWNED, PASSING } from "./laws/holding.ts"
import type { LockLab, LockLaw } from "./laws/law.ts"

export type { LockLab, LockLaw, LockLawCase } from "./laws/law.ts"

/** The laws of `LockBackend` as data: a backend keeps them if it passes every case. */
export const LOCK_LAWS: readonly LockLaw[] = [
  ALONE,
  OWNED,
  PASSING,
  RISING,
  REPEATABLE,
  EXACT,
  ONE_CLOCK,
  CLEAR,
  OPEN,
]

/** A case that a backend failed, with the error. */
export interface BrokenLockLaw {
  readonly law: LockLaw
  readonly title: string
  readonly error: unknown
}

/** Runs every case, one after another, and returns the failed ones. An empty list: the backend keeps the laws. */
export async function proveLockLaws(
  lab: LockLab,
  laws: readonly LockLaw[] = LOCK_LAWS,
): Promise<readonly BrokenLockLaw[]> {
  const broken: BrokenLockLaw[] = []
  for (const law of laws) {
    for (const { title, prove } of law.cases) {
      try {
        await prove(lab)
      } catch (error) {
        // Any error counts, whether from an assertion or from the backend.
        broken.push({ law, title, error })
      }
    }
  }
  return broken
}
