import { connected, createDatabase, query, startPostgres } from "../../test/support/postgres.ts"
import { type BenchServer, type Cost, cpuMsOf, difference } from "../shared/server.ts"

/** The server of BELFRY_BENCH_POSTGRES_URL, or a temporary one with fsync on, as in production. */
export async function benchServer(): Promise<BenchServer> {
  const given = process.env["BELFRY_BENCH_POSTGRES_URL"]
  const own = given === undefined ? await startPostgres({ fsync: true }) : null
  const url = given ?? own!.url
  if (own !== null) {
    await query(url, "alter system set shared_preload_libraries = 'pg_stat_statements'")
    await own.restart()
    // Above the default of 5,000 the server forgets statements, and their counts: an idle process had a negative count.
    await query(url, "alter system set pg_stat_statements.max = 100000")
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
    // pg_stat_statements is not installed, not preloaded or not allowed, so statements are not counted.
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
  // The first write to a page after a checkpoint logs the whole page. So every measurement starts with a checkpoint.
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
  return { result, cost: { statements: counted, logBytes: rows[0].bytes, serverCpuMs } }
}

/** All statements, without the benchmarks' own, which contain `bench_`, and the server's own checks of foreign keys. */
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
