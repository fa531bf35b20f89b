import type { Instant } from "../core/instant.ts"
import { runIdOf } from "../core/occurrence.ts"
import { type FireFacts, isToLookUp, type Plan, type Recorded, UNFINISHED_FACTS_MAX } from "../core/plan.ts"
import { isRange, type Missed, UNFINISHED } from "../core/run.ts"
import type { RunSummary } from "../core/run-summary.ts"
import { concurrencyKeyOf, type Schedule } from "../core/schedule.ts"
import type { Store } from "../store/store.ts"

/**
 * What `dueSchedules` would say of one schedule, for plans made outside the firing loop. Of too many unfinished runs it
 * gives the newest instead of the oldest, which no policy minds.
 */
export async function readFacts(store: Store, schedule: Schedule): Promise<FireFacts> {
  const page = { orderBy: "createdAt", after: null } as const
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

/**
 * A plan by these facts. If it settles several occurrences it is made again with those that have a record already, so that it
 * neither counts them among the missed nor uses up a limit for them.
 */
export async function plannedBy<Planned extends Plan | null>(
  store: Store,
  schedule: Schedule,
  facts: FireFacts,
  plan: (facts: FireFacts) => Planned,
): Promise<Planned> {
  const first = plan(facts)
  if (first === null || !isToLookUp(first, schedule)) return first
  const { id, coveredUntil } = schedule
  const recorded = coveredUntil === null ? [] : await readRecorded(store, id, coveredUntil)
  return recorded.length === 0 ? first : plan({ ...facts, recorded })
}

const PAGE = 1_000
/** Ten pages. What lies further back is counted among the missed, though its own records still stand. */
const RECORDED_MAX = 10_000

/** Which occurrences after an instant have a record, oldest first. */
export async function readRecorded(store: Store, id: string, after: Instant): Promise<readonly Recorded[]> {
  const found: RunSummary[] = []
  while (found.length < RECORDED_MAX) {
    const last = found.at(-1)
    const page = await store.findRuns(
      { scheduleId: id },
      {
        orderBy: "scheduledFor",
        after: last === undefined ? null : { at: last.scheduledFor!, id: last.id },
        from: after + 1,
        limit: PAGE,
      },
    )
    found.push(...page)
    if (page.length < PAGE) break
  }
  return found
    .map((record) => recordedBy(id, record))
    .filter((each) => each !== null)
    .sort((a, b) => a.from - b.from)
}

/** Null for a run that stands for no occurrence of its own: a backfill's, or one by hand. */
function recordedBy(scheduleId: string, record: RunSummary): Recorded | null {
  const { id, missed, state } = record
  const at = record.scheduledFor!
  // A damaged range stands for nothing that could be told.
  if (isRange(record))
    return isWhole(missed!) ? { from: missed!.from, until: missed!.until, isRun: false } : null
  return id === runIdOf(scheduleId, at) ? { from: at, until: at, isRun: state !== "skipped" } : null
}

function isWhole({ from, until }: Missed): boolean {
  return Number.isSafeInteger(from) && Number.isSafeInteger(until)
}
