import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Postgres, query } from "./postgres.ts"
import { canInstallPackages, findProgram, installPackages, notRoot } from "./server-programs.ts"
import { atPort, ThrowawayServer } from "./servers.ts"

/** A PgBouncer in transaction mode: clients share the server's connections, one transaction at a time. */
export interface PgBouncer {
  readonly port: number
  /** The same database, through PgBouncer. */
  through(url: string): string
  stop(): Promise<void>
}

export interface PgBouncerOptions {
  /** How many server connections all clients of a database share. */
  readonly poolSize?: number
}

export async function startPgBouncer(
  postgres: Pick<Postgres, "url" | "port">,
  { poolSize = 4 }: PgBouncerOptions = {},
): Promise<PgBouncer> {
  const program = await pgBouncerProgram()
  if (program === null) throw new Error("PgBouncer isn't installed, and only root can install it")
  const server = await ThrowawayServer.start({
    name: "PgBouncer",
    user: notRoot(),
    command(folder, port) {
      const config = join(folder, "pgbouncer.ini")
      writeFileSync(config, configOf(postgres, port, poolSize))
      return { program, args: [config] }
    },
    isReady: (_folder, port) => answers(atPort(postgres.url, port)),
    stopSignal: "SIGTERM",
  })
  return {
    port: server.port,
    through: (url) => atPort(url, server.port),
    stop: () => server.stop(),
  }
}

/** Installs PgBouncer if it is missing and can be installed. Null: it isn't available. */
export async function pgBouncerProgram(): Promise<string | null> {
  if (findProgram("pgbouncer") === null && canInstallPackages()) await installPackages("pgbouncer")
  return findProgram("pgbouncer")
}

// Strict, like PgBouncer's defaults: no startup parameter is ignored, and a session's settings, locks and prepared statements
// stay with a server connection that the next transaction may not get.
function configOf(postgres: Pick<Postgres, "url" | "port">, port: number, poolSize: number): string {
  const { username, password } = new URL(postgres.url)
  const quoted = (text: string) => `'${decodeURIComponent(text).replaceAll("'", "''")}'`
  // PgBouncer reports an empty text in quotes as an error.
  const login = `user=${quoted(username)}${password === "" ? "" : ` password=${quoted(password)}`}`
  return `[databases]
* = host=127.0.0.1 port=${postgres.port} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 300
`
}

async function answers(url: string): Promise<boolean> {
  try {
    await query(url, "select 1")
    return true
  } catch {
    return false
  }
}
