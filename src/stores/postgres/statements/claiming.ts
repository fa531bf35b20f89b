import type { Run } from "../../../core/run.ts"
import type { Claimed, ClaimRequest } from "../../../store/store.ts"
import type { Runner } from "../database.ts"
import { isTaken } from "../faults.ts"
import { instantOf, ms, numberOf, runColumns, runOf } from "../rows.ts"

export const CLAIM = `
  select ${ms("f.claimed_at")}, f.found, ${ms("f.next_at")}, ${runColumns("(f.run)")}
  from belfry.claim($1, $2, $3, $4) as f`

const NOW = 0
const DUE = 1
const NEXT = 2
const RUN = 3

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
    const given = rows.filter((row) => row[RUN] !== null).map((row) => runOf(row, RUN))
    runs.push(...given)
    const isAll = given.length === Number(first[DUE]) || given.length === 0 || runs.length >= request.limit
    if (!isAll) continue
    return { now: instantOf(first[NOW]!), runs, nextClaimableAt: numberOf(first[NEXT]!) }
  }
}
