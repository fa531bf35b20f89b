import { LAWS, type Lab, type Store } from "belfry/store"
import pg from "pg"
import { afterAll, beforeAll, describe, test } from "vitest"
import { aStoreOn } from "../stores/postgres/scratch.ts"
import { migratedDatabase } from "../support/fresh-database.ts"

/**
 * On a real server, in real time. Each peer has connections of its own, like another process. All cases share one database and
 * its connections: emptying a database takes 3 ms, creating one and connecting to it a hundred times longer.
 */

let url = ""
const pools: pg.Pool[] = []
let opened = 0

beforeAll(async () => {
  url = await migratedDatabase()
})
afterAll(() => Promise.all(pools.map((pool) => pool.end())))

const lab: Lab = {
  async openStore() {
    opened = 0
    const store = await open()
    for (const table of [
      "logs",
      "runs",
      "schedules",
      "shares",
      "workers",
      "documents",
      "journal",
      "statistics",
    ]) {
      await pools[0]!.query(`delete from belfry.${table}`)
    }
    return store
  },
  openPeer: () => open(),
  pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

async function open(): Promise<Store> {
  if (opened === pools.length) pools.push(new pg.Pool({ connectionString: url, max: 4, min: 4 }))
  const store = aStoreOn(pools[opened++]!)
  await store.open()
  return store
}

for (const { number, name, cases } of LAWS) {
  describe(`Law ${number}, ${name}, of the PostgreSQL store`, () => {
    for (const { title, prove } of cases) test(title, () => prove(lab))
  })
}
