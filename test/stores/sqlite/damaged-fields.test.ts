import { onTestFinished } from "vitest"
import { RUN_COLUMNS, WORKER_COLUMNS } from "../../../src/stores/sqlite/rows.ts"
import { SCHEDULE_COLUMNS } from "../../../src/stores/sqlite/schedule-rows.ts"
import { damagedFields } from "../damaged-fields.ts"
import { aStoreAndItsDatabase } from "./scratch.ts"

let opened: Awaited<ReturnType<typeof aStoreAndItsDatabase>> | null = null
const finished = () => {
  opened = null
}

damagedFields(
  async () => {
    // One database for all writes of a test: creating one takes longer than all the rest.
    onTestFinished(finished)
    opened ??= await aStoreAndItsDatabase(":memory:")
    const { store, database } = opened
    database.exec(
      "delete from belfry_runs; delete from belfry_schedules; delete from belfry_shares; delete from belfry_workers",
    )
    return {
      store,
      async write(kind, id, field, value) {
        // As a literal: the driver can't bind numbers above `Number.MAX_SAFE_INTEGER`.
        const literal = value === null ? "null" : isNumber(value) ? value : `'${value}'`
        try {
          database.exec(`update belfry_${kind}s set ${field} = ${literal} where id = '${id}'`)
          return true
        } catch {
          return false
        }
      },
    }
  },
  { schedule: columnsIn(SCHEDULE_COLUMNS), run: columnsIn(RUN_COLUMNS), worker: columnsIn(WORKER_COLUMNS) },
)

function columnsIn(list: string): readonly string[] {
  return list
    .split(",")
    .map((column) => column.trim())
    .filter((column) => column !== "id")
}

function isNumber(value: string): boolean {
  return /^-?\d+(\.\d+)?(e\d+)?$/.test(value)
}
