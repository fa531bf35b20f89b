import type { TestProject } from "vitest/node"
import { postgres } from "../../src/postgres.ts"
import { createDatabase, query, startPostgres } from "./postgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** From the project's configuration. Default: the version that the machine has. */
    postgresVersion?: number
    /** The server that all files of the project share. */
    postgres: SharedPostgres
  }
}

interface SharedPostgres {
  readonly url: string
  readonly port: number
  /** The prefix of the names of this run's databases. */
  readonly prefix: string
  /** A database with Belfry's empty tables. Other databases are copies of it. */
  readonly template: string
}

/** Runs once before the files of a project that needs PostgreSQL, and not at all if none of them runs. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { postgresVersion: version } = project.getProvidedContext()
  const prefix = `belfry_test_${process.pid}`
  const externalUrl = process.env["BELFRY_TEST_POSTGRES_URL"]
  const isExternal = externalUrl !== undefined && version === undefined
  const server = isExternal ? externalServer(externalUrl, prefix) : await startPostgres({ version })
  const template = await createTemplate(server.url, prefix)
  project.provide("postgres", { url: server.url, port: server.port, prefix, template })
  return () => server.stop()
}

async function createTemplate(serverUrl: string, prefix: string): Promise<string> {
  const url = await createDatabase(serverUrl, prefix)
  const store = postgres(url)
  await store.open()
  await store.close()
  return new URL(url).pathname.slice(1)
}

/** A server on this machine that was not started by the tests. This run's databases are dropped at the end. */
function externalServer(url: string, prefix: string) {
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
