import { existsSync } from "node:fs"
import { loadDriver } from "./driver.ts"
import { faultOf } from "./faults.ts"
import { MIGRATIONS, schemaOf } from "./migrations.ts"

/** What a file is at, and what this version of Belfry makes it. */
export interface FileSchema {
  /** 0 where Belfry has never been. */
  readonly stored: number
  readonly known: number
}

/** The schema of a file as it is: nothing is migrated, and a file that isn't there isn't made. */
export async function schemaOfFile(path: string): Promise<FileSchema> {
  const known = MIGRATIONS.length
  if (!existsSync(path)) return { stored: 0, known }
  const driver = await loadDriver()
  try {
    const database = driver.open(path)
    try {
      return { stored: schemaOf(database), known }
    } finally {
      database.close()
    }
  } catch (error) {
    throw faultOf(error, path)
  }
}
