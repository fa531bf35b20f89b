import { randomBytes } from "node:crypto"
import { join } from "node:path"
import pg from "pg"
import { postgresPrograms, runnablePrograms } from "./postgres-programs.ts"
import { notRoot, run, serverEnvironment } from "./server-programs.ts"
import { type ServerPlan, ThrowawayServer } from "./servers.ts"

/** A PostgreSQL server of one's own, to kill and to restart. Those who only need a database: `fresh-database.ts`. */
export interface Postgres {
  /** Of the database "postgres", as a user who may do anything. */
  readonly url: string
  readonly port: number
  /** Of the main process; null while it is down. */
  readonly pid: number | null
  /** The URL of an empty database. */
  freshDatabase(options?: DatabaseOptions): Promise<string>
  /** As a power cut: committed rows are kept, everything else is lost. */
  kill(): Promise<void>
  /** Up again on the same port with the same databases, whether it was killed or still runs. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export interface PostgresOptions {
  /** 13 to 18, fetched if the machine hasn't got it; any that the machine has if not said. */
  readonly version?: number | undefined
  /** Off unless said: only if the whole machine lost its power would it make a difference. */
  readonly fsync?: boolean
}

export interface DatabaseOptions {
  /** A database of that server to begin as a copy of; nobody may be connected to it. */
  readonly template?: string
  /** Such as "en-US", whose order of texts isn't that of their bytes, as it is otherwise. From PostgreSQL 15 on. */
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
      // A killed one has left its shared memory to its next life; without one it would stay until the machine restarts.
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
      // Without fsync a killed server still keeps what it committed, since the kernel has it. Not so without
      // synchronous_commit, nor, if it dies in the middle of a page, without full_page_writes: those stay on.
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

/** One statement, on a connection of its own. */
export async function query<Row extends pg.QueryResultRow>(
  url: string,
  sql: string,
): Promise<readonly Row[]> {
  await using client = await connected(url)
  const { rows } = await client.query<Row>(sql)
  return rows
}

/** A connection that may break without an outcry; its queries tell soon enough. */
export async function connected(url: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 60_000 })
  client.on("error", () => undefined)
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

/** A new database on that server, empty unless it has a template. */
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
