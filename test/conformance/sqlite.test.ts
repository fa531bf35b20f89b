import { LAWS, type Lab } from "belfry/store"
import { describe, test } from "vitest"
import { anOpenStore, aPath } from "../stores/sqlite/scratch.ts"

/** On a real file, in real time. Each peer has a connection of its own, like another process. */

let path = ""

const lab: Lab = {
  async openStore() {
    path = aPath()
    return anOpenStore(path)
  },
  openPeer: () => anOpenStore(path),
  pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

for (const { number, name, cases } of LAWS) {
  describe(`Law ${number}, ${name}, of the SQLite store`, () => {
    for (const { title, prove } of cases) test(title, () => prove(lab))
  })
}
