import type { Pruned, PruneRequest } from "../../../store/store.ts"
import type { Runner } from "../database.ts"
import { CLOCK, instantOf, ms, spanFrom } from "../rows.ts"
import { versionedName } from "../schema/engine-function.ts"
import { pruneJournal } from "./journal.ts"
import { pruneStatistics } from "./statistics.ts"

const PRUNE_RUNS = `
  select f.deleted, f.run_id, ${ms("f.completed_at")}
  from belfry.${versionedName("prune")}($1, $2, $3, $4, $5, $6) as f`

const PRUNE_WORKERS = `
  with ${CLOCK}
  delete from belfry.workers
  where id in (
    select w.id
    from belfry.workers as w, clock
    where w.heartbeat_at < clock.now - ${spanFrom("$1")}
    order by w.id
    limit $2
  )
  returning id`

/** How many runs one statement reads: a few milliseconds. */
const BATCH_SIZE = 500

export async function prune(runner: Runner, request: PruneRequest): Promise<Pruned> {
  const { olderThanMs, keepPerSchedule, silentForMs, journalOlderThanMs, limit } = request
  let runs = 0
  let place = { at: FROM_THE_OLDEST, id: "" }
  while (runs < limit) {
    const values = [olderThanMs, limit - runs, keepPerSchedule, place.at, place.id, BATCH_SIZE]
    const rows = await runner.rows(PRUNE_RUNS, values)
    runs += Number(rows[0]![0])
    const last = rows.at(-1)!
    if (rows.length < BATCH_SIZE || last[1] === null) break
    place = { at: instantOf(last[2]!), id: last[1]! }
  }
  const workers = await runner.rows(PRUNE_WORKERS, [silentForMs, limit])
  const entries = await pruneJournal(runner, journalOlderThanMs, limit)
  const buckets = await pruneStatistics(runner, limit)
  return { runs, workers: workers.length, entries, buckets }
}

/** Year 1: before every `completed_at`. */
const FROM_THE_OLDEST = -62_135_596_800_000
