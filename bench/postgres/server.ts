import { existsSync, readdirSync, readFileSync } from "node:fs"
import { connected, createDatabase, query, startPostgres } from "../../test/support/postgres.ts"

/** The server that all contenders are measured on, one after the other, each in a database of its own. */
export interface BenchServer {
  /** Its version and the settings that matter, in one line. */
  readonly about: string
  freshDatabase(name: string): Promise<string>
  /** What the contender in that database costs the server while it does the work. */
  costOf<T>(url: string, work: () => Promise<T>): Promise<{ result: T; cost: Cost }>
  stop(): Promise<void>
}

export interface Cost {
  /** Null where the server doesn't count them. */
  readonly statements: number | null
  /** This and the next are of the whole server: nobody else should be using it. */
  readonly walBytes: number
  /** Unlike the time that passes, it is about the same on a busy machine. Null if it isn't known. */
  readonly serverCpuMs: number | null
}

/** That of BELFRY_BENCH_POSTGRES_URL, or a throwaway one with fsync on, as people run theirs. */
export async function benchServer(): Promise<BenchServer> {
  const given = process.env["BELFRY_BENCH_POSTGRES_URL"]
  const own = given === undefined ? await startPostgres({ fsync: true }) : null
  const url = given ?? own!.url
  if (own !== null) {
    await query(url, "alter system set shared_preload_libraries = 'pg_stat_statements'")
    await own.restart()
  }
  const isCounting = await canCount(url)
  const databases: string[] = []
  return {
    about: await aboutServer(url),
    async freshDatabase(name) {
      const database = await createDatabase(url, `bench_${name}`)
      databases.push(new URL(database).pathname.slice(1))
      return database
    },
    costOf: (database, work) =>
      costOf({ database, countingUrl: isCounting ? url : null, pid: own?.pid ?? null }, work),
    async stop() {
      if (own !== null) return own.stop()
      for (const name of databases) await query(url, `drop database ${name} with (force)`)
    },
  }
}

async function canCount(url: string): Promise<boolean> {
  try {
    await query(url, "create extension if not exists pg_stat_statements")
    await query(url, "select calls from pg_stat_statements limit 1")
    return true
  } catch {
    // Not installed, not preloaded, or not allowed: then statements aren't counted.
    return false
  }
}

const SETTINGS = ["fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "max_wal_size"]

async function aboutServer(url: string): Promise<string> {
  await using client = await connected(url)
  const shown: string[] = []
  for (const setting of ["server_version", ...SETTINGS]) {
    const { rows } = await client.query(`show ${setting}`)
    shown.push(setting === "server_version" ? rows[0][setting] : `${setting} ${rows[0][setting]}`)
  }
  return `PostgreSQL ${shown.join(", ")}`
}

async function costOf<T>(
  { database, countingUrl, pid }: { database: string; countingUrl: string | null; pid: number | null },
  work: () => Promise<T>,
): Promise<{ result: T; cost: Cost }> {
  await using client = await connected(database)
  // Pages written for the first time after a checkpoint are logged whole: everyone begins right after one.
  await client.query("checkpoint")
  const statements = async () => (countingUrl === null ? null : statementsIn(countingUrl, database))
  const before = await statements()
  const cpuBefore = cpuMsOf(pid)
  const from = (await client.query("select pg_current_wal_lsn() as at")).rows[0].at
  const result = await work()
  const { rows } = await client.query("select pg_wal_lsn_diff(pg_current_wal_lsn(), $1)::float8 as bytes", [
    from,
  ])
  const serverCpuMs = difference(cpuBefore, cpuMsOf(pid))
  const counted = difference(before, await statements())
  return { result, cost: { statements: counted, walBytes: rows[0].bytes, serverCpuMs } }
}

function difference(before: number | null, after: number | null): number | null {
  return before === null || after === null ? null : after - before
}

/** Linux counts in hundredths of a second. */
const TICK_MS = 10

/** Of the server's main process, its children, and those that have ended. */
function cpuMsOf(pid: number | null): number | null {
  if (pid === null || !existsSync("/proc/self/stat")) return null
  let ticks = 0
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? statOf(name) : null
    if (stat === null || (name !== String(pid) && stat.parent !== pid)) continue
    ticks += stat.own + (name === String(pid) ? stat.ofEnded : 0)
  }
  return ticks * TICK_MS
}

function statOf(pid: string): { parent: number; own: number; ofEnded: number } | null {
  try {
    // After the name, which may hold anything, come state and parent; user and system time are the 12th and 13th.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ").map(Number)
    return { parent: fields[1]!, own: fields[11]! + fields[12]!, ofEnded: fields[13]! + fields[14]! }
  } catch {
    // It ended meanwhile.
    return null
  }
}

/** All but the benchmarks' own, which name something `bench_…`, and the server's own, which check foreign keys. */
const STATEMENTS = `
  select coalesce(sum(calls), 0)::float8 as count
  from pg_stat_statements
  join pg_database on pg_database.oid = dbid
  where datname = $1
    and query not like '%bench\\_%'
    and query not like '%pg_current_wal_lsn%'
    and query not like '%FROM ONLY%FOR KEY SHARE%'
    and query not ilike 'checkpoint%'`

async function statementsIn(countingUrl: string, database: string): Promise<number> {
  await using client = await connected(countingUrl)
  const { rows } = await client.query(STATEMENTS, [new URL(database).pathname.slice(1)])
  return rows[0].count
}
