import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { loadDriver } from "../../src/stores/sqlite/driver.ts"
import type { Ledger, LedgerRun } from "./ledger.ts"
import type { Place } from "./place.ts"

export async function sqlitePlace(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "belfry-chaos-"))
  const address = join(folder, "belfry.db")
  return {
    address,
    killServer: null,
    ledger: () => ledgerIn(address),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function ledgerIn(path: string): Promise<Ledger> {
  const database = (await loadDriver()).open(path)
  const all = <Row>(sql: string) => database.prepare(sql).all() as readonly Row[]
  const schedules = all<{ id: string; next_run_at: number }>("select id, next_run_at from belfry_schedules")
  const integrity = all<{ integrity_check: string }>("pragma integrity_check")
  const runs = all<RunRow>(
    `select id, schedule_id, scheduled_for, state, attempt, missed, attempts from belfry_runs`,
  )
  database.close()
  return {
    runs: runs.map(runOf),
    nextRunAt: new Map(schedules.map(({ id, next_run_at }) => [id, next_run_at])),
    faults: integrity.map(({ integrity_check }) => integrity_check).filter((text) => text !== "ok"),
  }
}

interface RunRow {
  readonly id: string
  readonly schedule_id: string
  readonly scheduled_for: number
  readonly state: string
  readonly attempt: number
  readonly missed: string | null
  readonly attempts: string
}

function runOf(row: RunRow): LedgerRun {
  const { count } = JSON.parse(row.missed ?? "{}") as { count?: number }
  return {
    id: row.id,
    scheduleId: row.schedule_id,
    scheduledFor: row.scheduled_for,
    state: row.state,
    attempt: row.attempt,
    standsFor: row.state === "skipped" ? (count ?? 1) : 1,
    attempts: JSON.parse(row.attempts),
  }
}
