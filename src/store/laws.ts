import { ALONE } from "./laws/alone.ts"
import { APART } from "./laws/apart.ts"
import { BOUNDED } from "./laws/bounded.ts"
import { FENCED } from "./laws/fenced.ts"
import { HINTS_LAW } from "./laws/hints.ts"
import type { Lab, Law } from "./laws/law.ts"
import { ONCE } from "./laws/once.ts"
import { ONE_CLOCK } from "./laws/one-clock.ts"
import { QUIET } from "./laws/quiet.ts"
import { REPEATABLE } from "./laws/repeatable.ts"
import { SERIAL } from "./laws/serial.ts"
import { SINGLE } from "./laws/single.ts"
import { WHOLE } from "./laws/whole.ts"

export type { Lab, Law, LawCase, LawName } from "./laws/law.ts"

/**
 * THE PROOF. The laws of `store.ts` as data: a store keeps the contract if it passes every case, without skips. A test runner
 * can show the cases one by one; `proveLaws` runs them without a test runner.
 */
export const LAWS: readonly Law[] = [
  WHOLE,
  ONE_CLOCK,
  FENCED,
  ONCE,
  ALONE,
  SINGLE,
  SERIAL,
  REPEATABLE,
  BOUNDED,
  QUIET,
  HINTS_LAW,
  APART,
]

/** A case that a store failed, with what it threw. */
export interface BrokenLaw {
  readonly law: Law
  readonly title: string
  readonly error: unknown
}

/** Runs every case, one after another, and returns the cases that failed. An empty list: the store keeps the laws. */
export async function proveLaws(lab: Lab, laws: readonly Law[] = LAWS): Promise<readonly BrokenLaw[]> {
  const broken: BrokenLaw[] = []
  for (const law of laws) {
    for (const { title, prove } of law.cases) {
      try {
        await prove(lab)
      } catch (error) {
        // A failed assertion and an exception of the store are both findings.
        broken.push({ law, title, error })
      }
    }
  }
  return broken
}
