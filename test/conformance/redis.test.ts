import { LAWS, type Lab } from "belfry/store"
import { describe, test } from "vitest"
import { anOpenStore } from "../stores/redis/scratch.ts"
import { freshPrefix } from "../support/redis-prefix.ts"

/** On a real server, in real time. Each peer has a connection of its own, like another process. */

let place = { url: "", prefix: "" }

const lab: Lab = {
  async openStore() {
    place = freshPrefix()
    return anOpenStore(place)
  },
  openPeer: () => anOpenStore(place),
  pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

for (const { number, name, cases } of LAWS) {
  describe(`Law ${number}, ${name}, of the Redis store`, () => {
    for (const { title, prove } of cases) test(title, () => prove(lab))
  })
}
