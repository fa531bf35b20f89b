import { isCurrentSchema } from "../kit/schema-gate.ts"
import type { Database } from "./driver.ts"
import { MIGRATION_1 } from "./migrations/0001.ts"
import { MIGRATION_2 } from "./migrations/0002.ts"

/** Each migrates the schema to the next version. Never edited after release: a change is a new migration at the end. */
export const MIGRATIONS: readonly string[] = [MIGRATION_1, MIGRATION_2]

/**
 * Brings the file to the newest schema, or changes nothing. Of processes that open a new file at the same time, one migrates
 * and the others wait for the write lock.
 */
export function migrate(database: Database, path: string, migrations: readonly string[] = MIGRATIONS): void {
  // Checked without a lock first: nearly always there is nothing to do, and then no process waits.
  if (isCurrent(database, path, migrations)) return
  database.exec("begin immediate")
  try {
    if (!isCurrent(database, path, migrations)) {
      for (const sql of migrations.slice(schemaOf(database))) database.exec(sql)
      database.prepare("update belfry_meta set schema = ?").run(migrations.length)
    }
    database.exec("commit")
  } catch (error) {
    rollBack(database)
    throw error
  }
}

function rollBack(database: Database): void {
  try {
    database.exec("rollback")
  } catch {
    // A full disk ends the transaction, and then there is none to roll back.
  }
}

function isCurrent(database: Database, path: string, migrations: readonly string[]): boolean {
  return isCurrentSchema(schemaOf(database), { known: migrations.length, where: path })
}

/** 0 for a file that Belfry has never opened. */
export function schemaOf(database: Database): number {
  const table = database
    .prepare("select name from sqlite_schema where type = 'table' and name = 'belfry_meta'")
    .get()
  if (table === undefined) return 0
  return (database.prepare("select schema from belfry_meta").get() as { schema: number }).schema
}
