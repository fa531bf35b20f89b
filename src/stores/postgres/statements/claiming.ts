import { endUnreadable } from "../../../core/records/damaged-records.ts"
import type { Run, RunChange } from "../../../core/run/run.ts"
import type { Instant } from "../../../core/time/instant.ts"
import type { Claimed, ClaimRequest } from "../../../store/store.ts"
import { unreadableBecause } from "../../kit/isolation.ts"
import type { Runner } from "../database.ts"
import { isUniqueViolation } from "../faults.ts"
import { jsonOf, type Row } from "../rows.ts"
import { keyOf, runOf } from "../run-rows.ts"
import { versionedName } from "../schema/engine-function.ts"

export const CLAIM = `select * from belfry.${versionedName("claim")}($1, $2, $3, $4)`

const SUMMARY = 0
const NUMBER = 1
const RUN = 2
const TASK = 3

type Summary = readonly [now: number, dueCount: number, nextAt: number | null]

/** A claim is sent at most this often if other claims take its slots first. */
const TRIES = 20

/** `unreadable`: changes that end the claimed runs whose rows can't be read. */
export async function claimRuns(
  runner: Runner,
  request: ClaimRequest,
): Promise<Claimed & { unreadable: readonly RunChange[] }> {
  const leases = new Map(request.tasks.map(({ name, leaseMs }) => [name, leaseMs]))
  const runs: Run[] = []
  const unreadable: RunChange[] = []
  // A round that filled a key may have skipped runs behind it. Every round claims at least one run or is the last.
  for (let tries = 0; ; ) {
    const limit = request.limit - runs.length
    const values = [request.workerId, [...leases.keys()], [...leases.values()], limit]
    let rows: Awaited<ReturnType<Runner["rows"]>>
    try {
      rows = await runner.rows(CLAIM, values)
    } catch (error) {
      if (!isUniqueViolation((error as Error).cause) || ++tries >= TRIES) throw error
      continue
    }
    const [first, ...claimed] = rows as [Row, ...Row[]]
    const [at, dueCount, nextAt] = jsonOf<Summary>(first[SUMMARY]!)
    const now = Math.round(at)
    claimed.sort((a, b) => Number(a[NUMBER]) - Number(b[NUMBER]))
    for (const row of claimed) {
      const step = stepAt(now, request.workerId, leases.get(row[TASK]!)!)
      try {
        runs.push(runOf(row, RUN, step))
      } catch (error) {
        unreadable.push(endUnreadable(keyOf(row, RUN), unreadableBecause(error)))
      }
    }
    const isAll = claimed.length === dueCount || claimed.length === 0 || runs.length >= request.limit
    if (isAll) return { now, runs, unreadable, nextClaimableAt: nextAt === null ? null : Math.round(nextAt) }
  }
}

function stepAt(now: Instant, workerId: string, leaseMs: number) {
  return {
    state: "running",
    claimableAt: now + leaseMs,
    workerId,
    startedAt: now,
    completedAt: null,
    progress: null,
  } as const
}
