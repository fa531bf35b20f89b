import { BelfryError } from "../../core/errors.ts"
import { MINUTE } from "../../core/time/instant.ts"
import { hashText } from "../../core/values/hash.ts"
import { isCurrentSchema } from "../kit/schema-gate.ts"
import type { Queryable } from "./client.ts"
import { AS_TEXT, type Database, type DatabaseOptions, inSchema } from "./database.ts"
import { MIGRATION_1 } from "./migrations/0001.ts"
import { MIGRATION_2 } from "./migrations/0002.ts"

/** Each migration raises the schema's number by one. Never edited after release: a change is a new migration at the end. */
export const MIGRATIONS: readonly string[] = [MIGRATION_1, MIGRATION_2]

/** The number of the newest migration. 0 for a database that Belfry has never opened. */
export async function schemaOf(client: Queryable, schema: string): Promise<number> {
  const there = "select pg_catalog.to_regclass($1) is not null"
  if (!(await isTrue(client, there, [`"${schema}".migrations`]))) return 0
  const newest = inSchema("select coalesce(pg_catalog.max(number), 0) from belfry.migrations", schema)
  return Number(await firstValue(client, newest))
}

async function isTrue(client: Queryable, text: string, values: readonly unknown[]): Promise<boolean> {
  return (await firstValue(client, text, values)) === "t"
}

async function firstValue(
  client: Queryable,
  text: string,
  values: readonly unknown[] = [],
): Promise<unknown> {
  const { rows } = await client.query({ text, values, rowMode: "array", types: AS_TEXT })
  return (rows as readonly (readonly unknown[])[])[0]![0]
}

const MIGRATION_DEADLINE_MS = 10 * MINUTE

/**
 * Migrates if it is necessary. A migration has a longer deadline than other calls: it adds indexes, which takes seconds for each
 * million runs, and another process may be migrating already.
 */
export async function bringUpToDate(database: Database, options: DatabaseOptions): Promise<void> {
  if (await database.withClient((client) => hasCurrentSchema(client, options))) return
  await database.repeatedly(() =>
    database.withClient((client) => migrate(client, options), MIGRATION_DEADLINE_MS),
  )
}

/** Without a lock: usually there is nothing to migrate, and then no process waits. */
async function hasCurrentSchema(client: Queryable, { schema, where }: DatabaseOptions): Promise<boolean> {
  await assertCatalogFirst(client, where)
  return isCurrent(await schemaOf(client, schema), MIGRATIONS, where)
}

/**
 * Brings the database to the newest schema, or changes nothing: it is one transaction. A second process waits for the lock and
 * then finds nothing to do. Processes of an older version continue to work: a migration only adds.
 */
export async function migrate(
  client: Queryable,
  { schema, where }: { schema: string; where: string },
  migrations: readonly string[] = MIGRATIONS,
): Promise<void> {
  await client.query({ text: "begin" })
  try {
    // Views, defaults and trigger conditions keep the meaning that names have when they are created.
    await client.query({ text: "set local search_path = pg_catalog, pg_temp" })
    await client.query({
      text: "select pg_catalog.pg_advisory_xact_lock($1)",
      values: [hashText(`belfry ${schema}`)],
    })
    await createSchema(client, schema)
    await client.query({ text: inSchema(CREATE_MIGRATIONS, schema) })
    const current = await schemaOf(client, schema)
    if (!isCurrent(current, migrations, where)) {
      for (const [index, sql] of migrations.entries()) {
        if (index < current) continue
        await client.query({ text: inSchema(sql, schema) })
        const text = inSchema("insert into belfry.migrations (number) values ($1)", schema)
        await client.query({ text, values: [index + 1] })
      }
    }
    await client.query({ text: "commit" })
  } catch (error) {
    // On a broken connection the rollback fails too; the first error is the one to report.
    await client.query({ text: "rollback" }).catch(() => undefined)
    throw error
  }
}

/**
 * Outside our functions, operators such as `=` are resolved by the session's `search_path`. If it has another schema before
 * pg_catalog, a user who can create operators in that schema could run code with Belfry's rights.
 */
async function assertCatalogFirst(client: Queryable, where: string): Promise<void> {
  const first = `
    select s.name
    from pg_catalog.unnest(pg_catalog.current_schemas(true)) with ordinality as s(name, place)
    where s.name OPERATOR(pg_catalog.!~) '^pg_temp'
    order by s.place
    limit 1`
  const name = await firstValue(client, first)
  if (name === "pg_catalog") return
  throw new BelfryError(
    "BELFRY_STORE_UNFIT",
    `On ${where} the search_path has "${name}" before pg_catalog: users who can create operators there could act as Belfry.`,
    { remedy: "Leave pg_catalog out of the search_path (it is then searched first), or name it first." },
  )
}

/** Not "create schema if not exists": PostgreSQL requires the CREATE right for it even if the schema exists. */
async function createSchema(client: Queryable, schema: string): Promise<void> {
  const there = "select pg_catalog.to_regnamespace($1) is not null"
  if (await isTrue(client, there, [`"${schema}"`])) return
  await client.query({ text: inSchema("create schema belfry", schema) })
}

const CREATE_MIGRATIONS = `
  create table if not exists belfry.migrations (
    number integer primary key,
    applied_at timestamptz not null default clock_timestamp()
  )`

function isCurrent(schema: number, migrations: readonly string[], where: string): boolean {
  return isCurrentSchema(schema, { known: migrations.length, where })
}
