import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sqlite } from "belfry/sqlite"
import { LAWS, type Lab, type Store } from "belfry/store"
import { afterEach, describe, test } from "vitest"

/** On a real file, in real time; each peer is a connection of its own, as another process would have it. */

const opened: Store[] = []
const folders: string[] = []
let path = ""

const lab: Lab = {
  async openStore() {
    const folder = mkdtempSync(join(tmpdir(), "belfry-sqlite-"))
    folders.push(folder)
    path = join(folder, "belfry.db")
    return open()
  },
  openPeer: open,
  pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

async function open(): Promise<Store> {
  const store = sqlite(path)
  await store.open()
  opened.push(store)
  return store
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

for (const { number, name, cases } of LAWS) {
  describe(`Law ${number}, ${name}, of the SQLite store`, () => {
    for (const { title, prove } of cases) test(title, () => prove(lab))
  })
}
