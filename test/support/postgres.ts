import { randomBytes } from "node:crypto"
import { join } from "node:path"
import pg from "pg"
import { postgresPrograms, runnablePrograms } from "./postgres-programs.ts"
import { notRoot, run, serverEnvironment } from "./server-programs.ts"
import { type ServerPlan, ThrowawayServer } from "./servers.ts"

/** A separate PostgreSQL server that a test can kill and restart. Tests that only need a database use `fresh-database.ts`. */
export interface Postgres {
  /** The database "postgres", as superuser. */
  readonly url: string
  readonly port: number
  /** Of the main process. Null while the server is down. */
  readonly pid: number | null
  /** The URL of an empty database. */
  freshDatabase(options?: DatabaseOptions): Promise<string>
  /** Like a power cut: committed rows are kept, everything else is lost. */
  kill(): Promise<void>
  /** Restarts on the same port with the same databases, whether the server was killed or still runs. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export interface PostgresOptions {
  /** 13 to 18, fetched if the machine lacks it. Default: any version that the machine has. */
  readonly version?: number | undefined
  /** Default false: it matters only if the whole machine loses its power. */
  readonly fsync?: boolean
}

export interface DatabaseOptions {
  /** The new database is a copy of this one, to which no client may be connected. */
  readonly template?: string
  /** Such as "en-US". Default "C", which orders texts by their bytes. From PostgreSQL 15 on. */
  readonly locale?: string
}

export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const server = await ThrowawayServer.start(await planOf(options))
  const url = `postgres://postgres@127.0.0.1:${server.port}/postgres`
  return {
    url,
    port: server.port,
    get pid() {
      return server.pid
    },
    freshDatabase: (options) => createDatabase(url, "belfry_test", options),
    kill: () => server.kill(),
    restart: () => server.restart(),
    async stop() {
      // A killed server leaves shared memory, which only its restart removes. Otherwise it stays until the machine restarts.
      if (server.pid === null) await server.restart()
      await server.stop()
    },
  }
}

async function planOf({ version, fsync = false }: PostgresOptions): Promise<ServerPlan> {
  let programs = await postgresPrograms(version)
  const user = notRoot()
  return {
    name: `PostgreSQL${version === undefined ? "" : ` ${version}`}`,
    user,
    async prepare(folder) {
      programs = runnablePrograms(programs, folder)
      const options = "-U postgres -A trust -E UTF8 --locale=C --no-sync".split(" ")
      const env = serverEnvironment()
      await run(join(programs, "initdb"), ["-D", dataIn(folder), ...options], { ...user, cwd: folder, env })
    },
    command(folder, port) {
      // Without fsync a killed server still keeps committed rows, since the kernel has them. Without synchronous_commit, or
      // without full_page_writes if it dies while writing a page, it may lose them: so both stay on.
      const settings = ["listen_addresses=127.0.0.1", "max_connections=300", `fsync=${fsync ? "on" : "off"}`]
      const args = ["-D", dataIn(folder), "-p", String(port), "-k", folder]
      return {
        program: join(programs, "postgres"),
        args: [...args, ...settings.flatMap((each) => ["-c", each])],
      }
    },
    isReady,
    stopSignal: "SIGINT",
  }
}

const dataIn = (folder: string) => join(folder, "data")

async function isReady(folder: string, port: number): Promise<boolean> {
  try {
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    const [row] = await query<{ data_directory: string }>(url, "show data_directory")
    return row?.data_directory === dataIn(folder)
  } catch {
    // Not listening yet, or still recovering.
    return false
  }
}

/** Runs one statement on a connection of its own. */
export async function query<Row extends pg.QueryResultRow>(
  url: string,
  sql: string,
): Promise<readonly Row[]> {
  await using client = await connected(url)
  const { rows } = await client.query<Row>(sql)
  return rows
}

/** A connection whose error events are ignored: its next query fails if it is broken. */
export async function connected(url: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 60_000 })
  client.on("error", () => undefined)
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

/** Creates a database on the server. Without a template it is empty. */
export async function createDatabase(
  serverUrl: string,
  prefix: string,
  { template = "template0", locale }: DatabaseOptions = {},
): Promise<string> {
  await using client = await connected(serverUrl)
  const order = locale === undefined ? "" : `locale_provider icu icu_locale '${locale}'`
  const name = `${prefix}_${randomBytes(6).toString("hex")}`
  await client.query(`create database ${name} template ${template} ${order}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}
