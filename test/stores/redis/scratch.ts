import assert from "node:assert/strict"
import type { Store } from "belfry/store"
import { Redis } from "ioredis"
import { systemClock } from "../../../src/engine/clock.ts"
import { clientFor } from "../../../src/stores/redis/own-client.ts"
import { createRedisStore } from "../../../src/stores/redis/redis-store.ts"
import { startRedis } from "../../support/redis.ts"
import { freshPrefix } from "../../support/redis-prefix.ts"
import { atTheEnd } from "../../support/scratch.ts"

export { atTheEnd, rejectsWith, until } from "../../support/scratch.ts"

export interface Place {
  readonly url: string
  readonly prefix: string
}

/** As `redis(url)` makes it, with a deadline of the test's own. It is closed when the test ends. */
export async function anOpenStore(place: Place, deadlineMs = 5_000): Promise<Store> {
  const store = createRedisStore(
    async () => ({ client: await clientFor(place.url, deadlineMs), isOurs: true }),
    { prefix: `{${place.prefix}}`, deadlineMs, where: "the test's server", onWarning: assert.fail },
    systemClock,
  )
  atTheEnd(() => store.close())
  await store.open()
  return store
}

/** A store where nothing is yet, and a client that knows nothing of Belfry. */
export async function aFreshStore(
  place = freshPrefix(),
): Promise<{ store: Store; client: Redis; prefix: string; place: Place }> {
  return { store: await anOpenStore(place), client: aClient(place.url), prefix: `{${place.prefix}}`, place }
}

/** On a server that nobody else asks anything meanwhile. */
export async function aStoreAlone(): Promise<{ store: Store; client: Redis }> {
  const server = await startRedis()
  atTheEnd(() => server.stop())
  return aFreshStore({ url: server.url, prefix: "belfry" })
}

/** How often the server ran each command during the work, from scripts too. */
export async function commandsDuring(
  client: Redis,
  work: () => Promise<unknown>,
): Promise<ReadonlyMap<string, number>> {
  await client.config("RESETSTAT")
  await work()
  const lines = (await client.info("commandstats")).matchAll(/cmdstat_(\w+):calls=(\d+)/g)
  return new Map([...lines].map(([, name, calls]) => [name!, Number(calls)]))
}

export function aClient(url: string): Redis {
  const client = new Redis(url)
  client.on("error", () => undefined)
  atTheEnd(() => client.disconnect())
  return client
}
