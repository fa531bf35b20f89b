import { type FireFacts, UNFINISHED_FACTS_MAX } from "../core/plan.ts"
import { UNFINISHED } from "../core/run.ts"
import { concurrencyKeyOf, type Schedule } from "../core/schedule.ts"
import type { Store } from "../store/store.ts"

/**
 * What `dueSchedules` would say of one schedule, for plans made outside the firing loop. Of too many unfinished runs it
 * gives the newest instead of the oldest, which no policy minds.
 */
export async function readFacts(store: Store, schedule: Schedule): Promise<FireFacts> {
  const page = { orderBy: "createdAt", before: null } as const
  const unfinished = await store.findRuns(
    { concurrencyKey: concurrencyKeyOf(schedule.id), states: UNFINISHED },
    { ...page, limit: UNFINISHED_FACTS_MAX },
  )
  const successes = await Promise.all(
    schedule.dependsOn.map(async ({ scheduleId }) => {
      const [run] = await store.findRuns(
        { scheduleId, states: ["succeeded"] },
        { ...page, orderBy: "completedAt", limit: 1 },
      )
      return [scheduleId, run?.completedAt ?? null] as const
    }),
  )
  return { unfinished: unfinished.toReversed(), lastSuccessAt: Object.fromEntries(successes) }
}

/** The other policies are kept by the run's own live key: their plans need no facts. */
export function needsFacts({ dependsOn, overlap }: Schedule): boolean {
  return dependsOn.length > 0 || overlap.policy === "queue" || overlap.policy === "replace"
}
