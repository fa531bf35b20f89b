/**
 * Runs a migration that waits for another program's lock, so that a test can kill it meanwhile.
 * `node --import tsx test/stores/postgres/slow-migration.ts <url>`
 */
import pg from "pg"
import { MIGRATIONS, migrate } from "../../../src/stores/postgres/migrations.ts"

const client = new pg.Client(process.argv[2])
await client.connect()
const half = "create table belfry.half (a integer); select pg_advisory_xact_lock(1)"
await migrate(client, { schema: "belfry", where: "the test's database" }, [...MIGRATIONS, half])
