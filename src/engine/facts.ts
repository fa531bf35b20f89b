import { runIdOf } from "../core/planning/occurrence.ts"
import {
  type DueFacts,
  type FireFacts,
  needsRecords,
  type Plan,
  type Recorded,
  UNFINISHED_FACTS_MAX,
} from "../core/planning/plan.ts"
import { isRange, type Missed, UNFINISHED } from "../core/run/run.ts"
import type { RunSummary } from "../core/run/run-summary.ts"
import { concurrencyKeyOf, type Schedule } from "../core/schedule/schedule.ts"
import type { Instant } from "../core/time/instant.ts"
import type { Store } from "../store/store.ts"

/**
 * The facts that `dueSchedules` returns for one schedule, for plans made outside the firing loop. If there are too many
 * unfinished runs, this returns the newest and `dueSchedules` the oldest. No policy depends on the difference.
 */
export async function readFacts(store: Store, schedule: Schedule): Promise<DueFacts> {
  const page = { orderBy: "createdAt", after: null } as const
  const unfinished = await store.findRuns(
    { concurrencyKey: concurrencyKeyOf(schedule.id), states: UNFINISHED },
    { ...page, limit: UNFINISHED_FACTS_MAX },
  )
  const dependencies = schedule.dependsOn.map(({ scheduleId }) => scheduleId)
  return { unfinished: unfinished.toReversed(), lastSuccessAt: await lastSuccesses(store, dependencies) }
}

/** A schedule remembers its last success after the run was pruned. A local schedule isn't stored, so its runs are read, too. */
async function lastSuccesses(store: Store, ids: readonly string[]): Promise<DueFacts["lastSuccessAt"]> {
  if (ids.length === 0) return {}
  const page = { after: null, limit: ids.length } as const
  const schedules = await store.findSchedules({ ids }, { ...page, orderBy: "id" })
  const remembered = new Map(schedules.map(({ id, lastSuccessAt }) => [id, lastSuccessAt]))
  const newest = async (scheduleId: string) => {
    const succeeded = { scheduleId, states: ["succeeded"] } as const
    const [run] = await store.findRuns(succeeded, { orderBy: "completedAt", after: null, limit: 1 })
    return [scheduleId, later(remembered.get(scheduleId) ?? null, run?.completedAt ?? null)] as const
  }
  return Object.fromEntries(await Promise.all(ids.map(newest)))
}

function later(a: Instant | null, b: Instant | null): Instant | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b)
}

/** The other overlap policies are enforced by the run's live key, so their plans need no facts. */
export function needsFacts({ dependsOn, overlap }: Schedule): boolean {
  return dependsOn.length > 0 || overlap.policy === "queue" || overlap.policy === "replace"
}

/**
 * Plans with these facts. A plan that settles several occurrences is made again with the recorded ones among them, so that these
 * neither count as missed nor use up a limit.
 */
export async function plannedBy<Planned extends Plan | null>(
  store: Store,
  schedule: Schedule,
  facts: DueFacts,
  plan: (facts: FireFacts) => Planned,
): Promise<Planned> {
  const first = plan(facts)
  if (first === null || !needsRecords(first, schedule)) return first
  const { id, coveredUntil } = schedule
  const recorded = coveredUntil === null ? [] : await readRecorded(store, id, coveredUntil)
  return recorded.length === 0 ? first : plan({ ...facts, recorded })
}

const PAGE = 1_000
/** Ten pages. Older occurrences count as missed, although their own records remain. */
const RECORDED_MAX = 10_000

/** The occurrences after an instant that have a record, oldest first. */
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

/** Null: a backfilled or manual run, which has no occurrence of its own. */
function recordedBy(scheduleId: string, record: RunSummary): Recorded | null {
  const { id, missed, state } = record
  const at = record.scheduledFor!
  // The occurrences of a damaged range can't be determined.
  if (isRange(record))
    return isWhole(missed!) ? { from: missed!.from, until: missed!.until, isRun: false } : null
  return id === runIdOf(scheduleId, at) ? { from: at, until: at, isRun: state !== "skipped" } : null
}

function isWhole({ from, until }: Missed): boolean {
  return Number.isSafeInteger(from) && Number.isSafeInteger(until)
}
