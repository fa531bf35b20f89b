import { inject } from "vitest"
import { createDatabase, type DatabaseOptions } from "./postgres.ts"

/** The URL of an empty database, on the server that the project's files share. It is dropped when the run ends. */
export function freshDatabase(options?: DatabaseOptions): Promise<string> {
  const { url, prefix } = inject("postgres")
  return createDatabase(url, prefix, options)
}

/** Like `freshDatabase`, but with Belfry's tables: opening a store takes 12 ms instead of 100. */
export function migratedDatabase(): Promise<string> {
  return freshDatabase({ template: inject("postgres").template })
}
