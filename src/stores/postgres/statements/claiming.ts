import type { Instant } from "../../../core/instant.ts"
import type { Run } from "../../../core/run.ts"
import type { Claimed, ClaimRequest } from "../../../store/store.ts"
import type { Runner } from "../database.ts"
import { isTaken } from "../faults.ts"
import { jsonOf, type Row } from "../rows.ts"
import { runOf } from "../run-rows.ts"

export const CLAIM = "select * from belfry.claim($1, $2, $3, $4)"

const LOOK = 0
const NUMBER = 1
const RUN = 2
const TASK = 3

type Look = readonly [now: number, dueCount: number, nextAt: number | null]

/** As often as claims of the same key may meet. */
const TRIES = 20

export async function claimRuns(runner: Runner, request: ClaimRequest): Promise<Claimed> {
  const leases = new Map(request.tasks.map(({ name, leaseMs }) => [name, leaseMs]))
  const runs: Run[] = []
  // A round that filled a key may have passed over others behind it: each gives at least one run, or is the last.
  for (let tries = 0; ; ) {
    const limit = request.limit - runs.length
    const values = [request.workerId, [...leases.keys()], [...leases.values()], limit]
    let rows: Awaited<ReturnType<Runner["rows"]>>
    try {
      rows = await runner.rows(CLAIM, values)
    } catch (error) {
      if (!isTaken((error as Error).cause) || ++tries >= TRIES) throw error
      continue
    }
    const [first, ...given] = rows as [Row, ...Row[]]
    const [at, dueCount, nextAt] = jsonOf<Look>(first[LOOK]!)
    const now = Math.round(at)
    given.sort((a, b) => Number(a[NUMBER]) - Number(b[NUMBER]))
    for (const row of given)
      runs.push(runOf(row, RUN, stepAt(now, request.workerId, leases.get(row[TASK]!)!)))
    const isAll = given.length === dueCount || given.length === 0 || runs.length >= request.limit
    if (isAll) return { now, runs, nextClaimableAt: nextAt === null ? null : Math.round(nextAt) }
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
