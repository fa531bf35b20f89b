import { DAY, MINUTE } from "../core/time/instant.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Store } from "../store/store.ts"
import type { Events } from "./events.ts"
import { Loop, loopReports } from "./loop.ts"

/** How much history is kept. */
export interface Retention {
  readonly olderThanMs: number
  readonly keepPerSchedule: number
}

export const DEFAULT_RETENTION: Retention = { olderThanMs: 30 * DAY, keepPerSchedule: 100 }

/** Records deleted per call, so that a store with much history is never locked for long. */
const BATCH = 1_000
const SILENT_FOR_MS = DAY
/** The journal is read long after the runs are gone. */
const JOURNAL_KEPT_MS = 400 * DAY

/** Deletes old history. Every process may do this: records that one has deleted are not found by the others. */
export function createPruning(context: {
  store: Store
  clock: Clock
  logger: Logger
  events: Events
  retention: Retention
  everyMs: number
}): Loop {
  const { store, clock, logger, retention, everyMs } = context
  let isFirst = true
  return new Loop({
    clock,
    longestSleepMs: everyMs,
    async turn() {
      // Processes of one deploy start together. A random delay keeps them from pruning together.
      if (isFirst) {
        isFirst = false
        return MINUTE + clock.random() * everyMs
      }
      const pruned = await store.prune({
        ...retention,
        silentForMs: SILENT_FOR_MS,
        journalOlderThanMs: JOURNAL_KEPT_MS,
        limit: BATCH,
      })
      if (Object.values(pruned).some((count) => count > 0))
        logger.info({ component: "pruning", ...pruned }, "Pruned")
      return Object.values(pruned).includes(BATCH) ? 0 : everyMs
    },
    ...loopReports(context, { component: "pruning", fault: "History can't be pruned; trying again" }),
  })
}
