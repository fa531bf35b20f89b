import { setTimeout as sleep } from "node:timers/promises"
import { query, startPostgres } from "../support/postgres.ts"
import type { Ledger, LedgerRun } from "./ledger.ts"
import type { Place } from "./place.ts"

export async function postgresPlace(): Promise<Place> {
  const server = await startPostgres({ fsync: true })
  const address = await server.freshDatabase()
  return {
    address,
    async killServer(downMs) {
      await server.kill()
      await sleep(downMs)
      await server.restart()
    },
    ledger: () => ledgerIn(address),
    close: () => server.stop(),
  }
}

async function ledgerIn(url: string): Promise<Ledger> {
  const schedules = await query<{ id: string; next_run_at: Date }>(
    url,
    "select id, next_run_at from belfry.schedules",
  )
  const runs = await query<RunRow>(
    url,
    `select id, schedule_id, scheduled_for, state, attempt, missed,
       coalesce(attempts, '[]') as attempts, outcome, worker_id
     from belfry.runs`,
  )
  return {
    runs: runs.map(runOf),
    nextRunAt: new Map(schedules.map(({ id, next_run_at }) => [id, next_run_at.getTime()])),
    faults: [],
  }
}

interface RunRow {
  readonly id: string
  readonly schedule_id: string
  readonly scheduled_for: Date
  readonly state: string
  readonly attempt: number
  readonly missed: { readonly count: number } | null
  readonly attempts: LedgerRun["attempts"]
  /** The outcome of the last attempt if it ended together with its run. That attempt isn't among `attempts`. */
  readonly outcome: string | null
  readonly worker_id: string
}

function runOf(row: RunRow): LedgerRun {
  const last = { attempt: row.attempt, workerId: row.worker_id, outcome: row.outcome! }
  return {
    id: row.id,
    scheduleId: row.schedule_id,
    scheduledFor: row.scheduled_for?.getTime(),
    state: row.state,
    attempt: row.attempt,
    standsFor: row.state === "skipped" ? (row.missed?.count ?? 1) : 1,
    attempts: row.outcome === null ? row.attempts : [...row.attempts, last],
  }
}
