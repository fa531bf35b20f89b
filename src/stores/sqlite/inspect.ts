import { existsSync } from "node:fs"
import { checkedValue } from "../../core/options/checked.ts"
import { ok } from "../../store/check.ts"
import type { Inspection } from "../../store/inspection.ts"
import { storeSource } from "../kit/options.ts"
import { loadDriver, versionOf } from "./driver.ts"
import { faultOf } from "./faults.ts"
import { MIGRATIONS, schemaOf } from "./migrations.ts"
import { SQLITE_PATH } from "./options.ts"

/** Reads the state of a store's file. Migrates nothing, and doesn't create a file that doesn't exist. */
export async function inspect(path: string): Promise<Inspection> {
  checkedValue(path, SQLITE_PATH, { source: storeSource("inspect"), option: "path" })
  const driver = await loadDriver()
  const checks = [ok("server", `SQLite ${versionOf(driver)}`)]
  const known = MIGRATIONS.length
  if (!existsSync(path)) return { schema: { stored: 0, known }, checks }
  try {
    const database = driver.open(path)
    try {
      return { schema: { stored: schemaOf(database), known }, checks }
    } finally {
      database.close()
    }
  } catch (error) {
    throw faultOf(error, path)
  }
}
