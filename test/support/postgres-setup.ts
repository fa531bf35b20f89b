import type { TestProject } from "vitest/node"
import { pgBouncerProgram } from "./pgbouncer.ts"
import { query, startPostgres } from "./postgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** From the project's configuration; whichever the machine has if not said. */
    postgresVersion?: number
    /** The server that all files of the project share. */
    postgres: SharedPostgres
    /** Never false in continuous integration. */
    hasPgBouncer: boolean
  }
}

interface SharedPostgres {
  readonly url: string
  readonly port: number
  /** How the names of this run's databases begin. */
  readonly prefix: string
}

/** Runs once before the files of a project that needs PostgreSQL, and not at all if none of them is to run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { postgresVersion: version } = project.getProvidedContext()
  const prefix = `belfry_test_${process.pid}`
  const borrowedUrl = process.env["BELFRY_TEST_POSTGRES_URL"]
  const isBorrowed = borrowedUrl !== undefined && version === undefined
  const server = isBorrowed ? borrowed(borrowedUrl, prefix) : await startPostgres({ version })
  project.provide("postgres", { url: server.url, port: server.port, prefix })
  project.provide("hasPgBouncer", await hasPgBouncer())
  return () => server.stop()
}

/** A server on this machine that was there before, and keeps nothing of ours. */
function borrowed(url: string, prefix: string) {
  return {
    url,
    port: Number(new URL(url).port || 5432),
    async stop() {
      const ours = `select datname from pg_database where starts_with(datname, '${prefix}')`
      for (const { datname } of await query<{ datname: string }>(url, ours))
        await query(url, `drop database ${datname} with (force)`)
    },
  }
}

async function hasPgBouncer(): Promise<boolean> {
  if ((await pgBouncerProgram()) !== null) return true
  const reason = "PgBouncer is neither installed nor can it be, except by root on Debian."
  if (process.env["CI"] || process.env["BELFRY_CI"]) throw new Error(reason)
  console.warn(`NOT RUN: the tests behind PgBouncer. ${reason}`)
  return false
}
