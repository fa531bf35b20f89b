import { redis } from "belfry/redis"
import { LAWS, type Lab, type Store } from "belfry/store"
import { afterEach, describe, test } from "vitest"
import { freshPrefix } from "../support/redis-prefix.ts"

/** On a real server, in real time; each peer has a connection of its own, as another process would. */

const opened: Store[] = []
let place = { url: "", prefix: "" }

const lab: Lab = {
  async openStore() {
    place = freshPrefix()
    return open()
  },
  openPeer: open,
  pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

async function open(): Promise<Store> {
  const store = redis(place.url, { prefix: place.prefix })
  await store.open()
  opened.push(store)
  return store
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

for (const { number, name, cases } of LAWS) {
  describe(`Law ${number}, ${name}, of the Redis store`, () => {
    for (const { title, prove } of cases) test(title, () => prove(lab))
  })
}
