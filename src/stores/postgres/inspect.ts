import { checkedValue } from "../../core/options/checked.ts"
import { required } from "../../core/options/option-types.ts"
import { systemClock } from "../../runtime/clock.ts"
import { type Check, ok, warning } from "../../store/check.ts"
import type { Inspection } from "../../store/inspection.ts"
import { storeSource } from "../kit/options.ts"
import { addressOf } from "./address.ts"
import type { Queryable } from "./client.ts"
import { AS_TEXT, Database } from "./database.ts"
import { MIGRATIONS, schemaOf } from "./migrations.ts"
import { POSTGRES_OPTIONS } from "./options.ts"
import { poolFor } from "./own-pool.ts"
import { DEADLINE_MS, databaseOptions } from "./postgres.ts"

/** Checks the database of a store, over a new connection. Migrates nothing. */
export async function inspect(url: string, schema?: string): Promise<Inspection> {
  const source = storeSource("inspect")
  checkedValue(url, required(POSTGRES_OPTIONS.url), { source, option: "url" })
  checkedValue(schema, POSTGRES_OPTIONS.schema, { source, option: "schema" })
  const address = addressOf(url)
  const options = databaseOptions(address, schema)
  const pool = await poolFor(address.url, 1, DEADLINE_MS)
  try {
    const database = new Database(pool, options, systemClock)
    return await database.withClient(async (client) => ({
      schema: { stored: await schemaOf(client, options.schema), known: MIGRATIONS.length },
      checks: checksOf(await settingsOf(client)),
    }))
  } finally {
    await pool.end()
  }
}

interface Settings {
  readonly version: string
  readonly fsync: string
  readonly synchronousCommit: string
}

async function settingsOf(client: Queryable): Promise<Settings> {
  const { rows } = await client.query({ text: SETTINGS, values: [], rowMode: "array", types: AS_TEXT })
  const [version, fsync, synchronousCommit] = (rows as readonly (readonly string[])[])[0]!
  return { version: version!, fsync: fsync!, synchronousCommit: synchronousCommit! }
}

const SETTINGS = `
  select pg_catalog.current_setting('server_version'),
    pg_catalog.current_setting('fsync'),
    pg_catalog.current_setting('synchronous_commit')`

/** Rates the settings by what Belfry promises. */
export function checksOf({ version, fsync, synchronousCommit }: Settings): readonly Check[] {
  return [ok("server", `PostgreSQL ${version}`), persistenceCheck(fsync, synchronousCommit)]
}

function persistenceCheck(fsync: string, synchronousCommit: string): Check {
  const name = "persistence"
  if (fsync === "off")
    return warning(
      name,
      "fsync off: a power cut may destroy the database",
      "Set it in the server's configuration: fsync = on",
    )
  if (synchronousCommit === "off")
    return warning(
      name,
      "synchronous_commit off: a crash of the server loses the newest writes; their occurrences are fired again, with the same run ids",
      "Set it for Belfry's role: ALTER ROLE … SET synchronous_commit = on",
    )
  return ok(name, "fsync on: every confirmed write survives a power cut")
}
