import { type PostgresStore, postgres } from "belfry/postgres"
import { LAWS, type Lab } from "belfry/store"
import { afterEach, describe, test } from "vitest"
import { migratedDatabase } from "../support/fresh-database.ts"

/** On a real server, in real time; each peer has connections of its own, as another process would. */

const opened: PostgresStore[] = []
let url = ""

const lab: Lab = {
  async openStore() {
    url = await migratedDatabase()
    return open()
  },
  openPeer: open,
  pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

async function open(): Promise<PostgresStore> {
  const store = postgres({ url, connections: 4 })
  await store.open()
  opened.push(store)
  return store
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

for (const { number, name, cases } of LAWS) {
  describe(`Law ${number}, ${name}, of the PostgreSQL store`, () => {
    for (const { title, prove } of cases) test(title, () => prove(lab))
  })
}
