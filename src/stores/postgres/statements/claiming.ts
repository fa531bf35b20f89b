import type { Instant } from "../../../core/instant.ts"
import type { Run } from "../../../core/run.ts"
import type { Claimed, ClaimRequest } from "../../../store/store.ts"
import type { Runner } from "../database.ts"
import { isTaken } from "../faults.ts"
import { instantOf, numberOf, runOf } from "../rows.ts"

export const CLAIM = "select * from belfry.claim($1, $2, $3, $4)"

const NOW = 0
const DUE = 1
const NEXT = 2
const RUN = 3
const TASK = 4

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
    const first = rows[0]!
    const now = instantOf(first[NOW]!)
    const given = rows.filter((row) => row[RUN] !== null)
    for (const row of given)
      runs.push(runOf(row, RUN, stepAt(now, request.workerId, leases.get(row[TASK]!)!)))
    const isAll = given.length === Number(first[DUE]) || given.length === 0 || runs.length >= request.limit
    if (isAll) return { now, runs, nextClaimableAt: numberOf(first[NEXT]!) }
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
