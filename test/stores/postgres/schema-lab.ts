import type { PostgresStore } from "belfry/postgres"
import { LAWS, type Lab, type LawCase } from "belfry/store"
import { describe, test } from "vitest"
import { query } from "../../support/postgres.ts"
import { makeStore, PATIENCE_MS } from "./scratch.ts"

/** Proves laws in one database. Each case has its own schema, so that several can run at the same time. */
export function proveLaws(of: { numbers?: readonly number[]; where: string; url: () => string }): void {
  const schemas = new Schemas(of.url)
  for (const { number, name, cases } of LAWS) {
    if (of.numbers?.includes(number) === false) continue
    describe.concurrent(`Law ${number}, ${name}, ${of.where}`, () => {
      for (const each of cases) test(each.title, () => prove(each, of.url(), schemas))
    })
  }
}

async function prove({ prove }: LawCase, url: string, schemas: Schemas): Promise<void> {
  const schema = await schemas.take()
  const opened: PostgresStore[] = []
  const open = async () => {
    const store = makeStore(url, { schema, connections: 4 })
    opened.push(store)
    await store.open()
    return store
  }
  const lab: Lab = {
    openStore: open,
    openPeer: open,
    pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  }
  try {
    await prove(lab)
  } finally {
    await Promise.all(opened.map((store) => store.close()))
  }
  schemas.release(schema)
}

/** A pool of schemas. A new schema takes 100 ms; a used one is emptied in a few milliseconds. */
class Schemas {
  readonly #url: () => string
  readonly #free: string[] = []
  #made = 0

  constructor(url: () => string) {
    this.#url = url
  }

  async take(): Promise<string> {
    const schema = this.#free.pop()
    if (schema === undefined) return this.#make()
    const tables = [
      "schedules",
      "runs",
      "logs",
      "shares",
      "workers",
      "documents",
      "journal",
      "statistics",
    ].map((table) => `${schema}.${table}`)
    await query(this.#url(), `truncate ${tables}`)
    return schema
  }

  release(schema: string): void {
    this.#free.push(schema)
  }

  async #make(): Promise<string> {
    const schema = `belfry_${++this.#made}`
    const store = makeStore(this.#url(), { schema })
    await store.open()
    await store.close()
    await query(this.#url(), raiseLockTimeouts(schema))
    return schema
  }
}

/** SQL that raises the lock timeouts of all functions, so that a busy machine does not end a wait. */
export function raiseLockTimeouts(schema: string): string {
  return `do $$
    declare
      each regprocedure;
    begin
      for each in
        select oid
        from pg_proc
        where pronamespace = '${schema}'::regnamespace
          and array_to_string(proconfig, ' ') like '%lock_timeout=%'
      loop
        execute format('alter function %s set lock_timeout = ${PATIENCE_MS}', each);
      end loop;
    end $$`
}
