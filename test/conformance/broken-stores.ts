import { BROKEN_ALONE } from "./broken/alone.ts"
import { BROKEN_APART } from "./broken/apart.ts"
import { BROKEN_BOUNDED } from "./broken/bounded.ts"
import type { BrokenStore } from "./broken/breaking.ts"
import { BROKEN_DOCUMENTS } from "./broken/documents.ts"
import { BROKEN_FENCED } from "./broken/fenced.ts"
import { BROKEN_HINTS } from "./broken/hints.ts"
import { BROKEN_JOURNAL } from "./broken/journal.ts"
import { BROKEN_ONCE } from "./broken/once.ts"
import { BROKEN_ONE_CLOCK } from "./broken/one-clock.ts"
import { BROKEN_BY_PROCESS_LOCKS } from "./broken/process-locks.ts"
import { BROKEN_QUIET } from "./broken/quiet.ts"
import { BROKEN_REPEATABLE } from "./broken/repeatable.ts"
import { BROKEN_SERIAL } from "./broken/serial.ts"
import { BROKEN_SINGLE } from "./broken/single.ts"
import { BROKEN_STATISTICS } from "./broken/statistics.ts"
import { BROKEN_WHOLE } from "./broken/whole.ts"

/** Tests of the suite itself: stores with one bug each. The suite must reject every one of them. */
export const BROKEN_STORES: readonly BrokenStore[] = [
  ...BROKEN_WHOLE,
  ...BROKEN_ONE_CLOCK,
  ...BROKEN_FENCED,
  ...BROKEN_ONCE,
  ...BROKEN_ALONE,
  ...BROKEN_SINGLE,
  ...BROKEN_SERIAL,
  ...BROKEN_REPEATABLE,
  ...BROKEN_BOUNDED,
  ...BROKEN_QUIET,
  ...BROKEN_HINTS,
  ...BROKEN_APART,
  ...BROKEN_DOCUMENTS,
  ...BROKEN_JOURNAL,
  ...BROKEN_STATISTICS,
  ...BROKEN_BY_PROCESS_LOCKS,
]
