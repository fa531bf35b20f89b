import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { inspect } from "node:util"
import { BelfryError } from "belfry"
import { type Pool, postgres } from "belfry/postgres"
import pg from "pg"
import { afterAll, beforeAll, beforeEach, describe, test, vi } from "vitest"
import { succeed } from "../../../src/core/run/run.ts"
import {
  aHeartbeat,
  aLogLine,
  aPlan,
  aPruning,
  aRun,
  aRunOf,
  aSchedule,
} from "../../../src/store/laws/factories.ts"
import { created, running } from "../../../src/store/laws/steps.ts"
import { freshDatabase, migratedDatabase } from "../../support/fresh-database.ts"
import { type Postgres, query, startPostgres } from "../../support/postgres.ts"
import { anOpenStore, aPsql, aStore, atTheEnd, rejectsWith, until } from "./scratch.ts"

vi.mock(import("../../../src/stores/postgres/postgres-store.ts"), async (load) => {
  const { withPatientStores } = await import("./patience.ts")
  return withPatientStores(await load())
})
vi.mock(import("../../../src/stores/postgres/own-pool.ts"), async (load) => {
  const { withPatientPools } = await import("./patience.ts")
  return withPatientPools(await load())
})

/** Mistakes of configuration: each error names the mistake and what to do, and no error shows a password. */

const PASSWORD = "correct-horse"

describe("authentication", () => {
  let server: Postgres

  beforeAll(async () => {
    server = await startPostgres()
    const psql = await aPsql(server.url)
    await psql.query(`create role guarded login password '${PASSWORD}'`)
    await psql.query("grant create on database postgres to guarded")
    const { rows } = await psql.query("select current_setting('hba_file') as path")
    const rules = ["host all guarded 127.0.0.1/32 scram-sha-256", "host all all 127.0.0.1/32 trust"]
    const lines = rules.map((rule) => `select '${rule}'`).join(" union all ")
    await psql.query(`copy (${lines}) to '${rows[0].path}'`)
    await psql.query("select pg_reload_conf()")
    await psql.end()
    await until(() => isUnstorable(as("guarded", "")), "the server has reloaded its rules")
  })
  afterAll(() => server?.stop())

  test("the right password opens the store", async () => {
    await anOpenStore(as("guarded", PASSWORD))
  })

  test.each([
    [
      "a wrong password",
      () => as("guarded", "battery-staple"),
      /refuses this user or password.*authentication failed/,
    ],
    ["no password", () => as("guarded", ""), /refuses this user or password.*password/],
    ["an unknown user", () => as("nobody-at-all", ""), /refuses this user or password.*does not exist/],
  ])("%s is reported without the password", async (_, url, words) => {
    const error = await rejectsWith("BELFRY_STORE_UNFIT", postgres(url()).open(), words)

    assert.match(error.message, /^PostgreSQL at 127\.0\.0\.1:\d+\/postgres refuses/)
    assert.doesNotMatch(inspect(error, { depth: 10 }), /battery-staple/)
  })

  async function isUnstorable(url: string): Promise<boolean> {
    return query(url, "select 1").then(
      () => false,
      () => true,
    )
  }

  function as(user: string, password: string): string {
    const url = new URL(server.url)
    url.username = user
    url.password = password
    return url.href
  }
})

describe("the address", () => {
  test("of a missing database is reported", async () => {
    const url = new URL(await freshDatabase())
    url.pathname = "/nowhere"

    const words =
      /^The database of PostgreSQL at .*\/nowhere doesn't exist\. .*Create it first \(createdb NAME\)/
    await rejectsWith("BELFRY_STORE_UNFIT", postgres(url.href).open(), words)
  })

  test("of an unknown host or an unused port is reported", async () => {
    const url = new URL(await freshDatabase())
    url.port = "1"
    await rejectsWith("BELFRY_STORE_UNAVAILABLE", postgres(url.href).open(), /127\.0\.0\.1:1.*ECONNREFUSED/)

    url.hostname = "no-such-host.invalid"
    const words = /no-such-host\.invalid.*(ENOTFOUND|EAI_AGAIN|did not answer)/
    await rejectsWith("BELFRY_STORE_UNAVAILABLE", postgres(url.href).open(), words)
  })

  test("of another kind of server is reported before the deadline", async () => {
    const web = createServer((_, answer) => answer.end("hello")).listen(0, "127.0.0.1")
    atTheEnd(() => web.close())
    await new Promise((resolve) => web.once("listening", resolve))
    const url = `postgres://postgres@127.0.0.1:${(web.address() as AddressInfo).port}/postgres`

    const error = await aStore(url)
      .open()
      .then(
        () => null,
        (thrown: unknown) => thrown,
      )

    assert.ok(error instanceof BelfryError, String(error))
    assert.equal(error.code, "BELFRY_STORE_UNAVAILABLE")
  })

  test("with an unencoded password is refused, and no part of the password is shown", () => {
    const make = () => postgres("postgres://bob:correct@horse/battery@db/shop")

    assert.throws(make, (error: BelfryError) => {
      assert.equal(error.code, "BELFRY_STORE_UNFIT")
      assert.match(error.message, /Encode it: \/ is %2F/)
      return !/correct|horse|battery/.test(inspect(error))
    })
  })

  test("of a database with another schema before pg_catalog in its search_path is refused", async () => {
    const url = await migratedDatabase()
    const psql = await aPsql(url)
    const set = (path: string) =>
      psql.query(`alter database ${new URL(url).pathname.slice(1)} set search_path = ${path}`)

    await set("public, pg_catalog")
    await rejectsWith("BELFRY_STORE_UNFIT", aStore(url).open(), /search_path has "public" before pg_catalog/)
    await set("pg_temp, pg_catalog, public")
    await aStore(url).open()
    await set("public")
    await aStore(url).open()
  })

  test("that is not a valid URL is reported", async () => {
    const words = /^The database's URL can't be read\. .*Write postgres:\/\/user:password@host\/database\./

    const error = await rejectsWith(
      "BELFRY_STORE_UNFIT",
      postgres(`postgres://a:${PASSWORD}@[`).open(),
      words,
    )

    assert.doesNotMatch(inspect(error), new RegExp(PASSWORD))
  })

  test("may be a pool; a pool that its owner has ended is reported", async () => {
    const pool = new pg.Pool({ connectionString: await migratedDatabase() })
    const store = postgres({ pool: pool as unknown as Pool })
    await store.open()
    await pool.end()

    await rejectsWith(
      "BELFRY_STORE_UNAVAILABLE",
      store.now(),
      /Cannot use a pool after calling end on the pool/,
    )
  })
})

describe("permissions", () => {
  let url: string
  let psql: pg.Client
  let role: string

  beforeEach(async () => {
    url = await freshDatabase()
    psql = await aPsql(url)
    role = `belfry_${randomBytes(4).toString("hex")}`
    await psql.query(`create role ${role} login`)
    atTheEnd(async () => {
      const owner = await aPsql(url)
      await owner.query(`drop owned by ${role} cascade`)
      await owner.query(`drop role ${role}`)
    })
  })

  test("a user who may create nothing gets an error", async () => {
    const words = /^This user may not do that on .*\. .*permission denied.*Grant it what PostgreSQL names/
    await rejectsWith("BELFRY_STORE_UNFIT", postgres(asRole()).open(), words)
  })

  test("a user who may create schemas needs nothing else", async () => {
    await psql.query(`grant create on database "${new URL(url).pathname.slice(1)}" to ${role}`)

    await anOpenStore(asRole())
  })

  test("a user who owns an existing schema needs nothing else", async () => {
    await psql.query(`create schema belfry authorization ${role}`)

    await anOpenStore(asRole())
  })

  test("a user who may not read the schema gets an error", async () => {
    await anOpenStore(url)

    await rejectsWith("BELFRY_STORE_UNFIT", postgres(asRole()).open(), /This user may not do that on/)
  })

  test("a user who may read and write rows can make every call after the owner has migrated", async () => {
    await anOpenStore(url)
    await psql.query(`
      grant usage on schema belfry to ${role};
      grant select, insert, update, delete on all tables in schema belfry to ${role};
      grant usage on all sequences in schema belfry to ${role};
      grant execute on all functions in schema belfry to ${role}`)

    const store = await anOpenStore(asRole())

    const schedule = await created(store, aSchedule({ nextRunAt: await store.now() }))
    assert.equal((await store.dueSchedules({ limit: 1 })).due.length, 1)
    const [fired] = await store.fire([aPlan(schedule, { runs: [aRunOf(schedule.id)] })])
    assert.equal(fired!.outcome, "done")
    const run = await running(store, aRun())
    await store.heartbeat(aHeartbeat())
    await store.appendLogs([aLogLine(run.id)])
    await store.transition([succeed(run, { message: null, details: null })])
    await store.prune(aPruning())
    const byHand = await aPsql(asRole())
    await byHand.query("insert into belfry.schedules (id, cron, task) values ('hand', '0 3 * * *', 'report')")
    await byHand.query("select belfry.trigger('hand')")
    await byHand.query("select belfry.enqueue('report')")
  })

  function asRole(): string {
    const own = new URL(url)
    own.username = role
    return own.href
  }
})

test("without the driver, the error names the package and how to install it", () => {
  const hooks = `export async function resolve(name, context, next) {
    if (name === "pg") throw Object.assign(new Error("Cannot find package 'pg'"), { code: "ERR_MODULE_NOT_FOUND" })
    return next(name, context)
  }`
  const register = `import { register } from "node:module"; register(${JSON.stringify(dataOf(hooks))})`
  const program = `
    import { postgres } from ${JSON.stringify(new URL("../../../src/postgres.ts", import.meta.url).href)}
    await postgres("postgres://localhost/any").open().catch((error) => console.log(error.code, error.message))`

  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", "tsx", "--import", dataOf(register), "--input-type=module", "-e", program],
    { encoding: "utf8", cwd: fileURLToPath(new URL("../../..", import.meta.url)) },
  )

  const words = "needs the driver pg, which is not installed here. Install it: npm install pg"
  assert.equal(stdout.trim(), `BELFRY_STORE_UNFIT The PostgreSQL store ${words}`, stderr)
})

function dataOf(module: string): string {
  return `data:text/javascript,${encodeURIComponent(module)}`
}
