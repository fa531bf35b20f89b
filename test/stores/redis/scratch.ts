import assert from "node:assert/strict"
import type { Hint, Store } from "belfry/store"
import { type Cluster, Redis } from "ioredis"
import type { LockBackend } from "../../../src/lock.ts"
import { systemClock } from "../../../src/runtime/clock.ts"
import type { Timers } from "../../../src/stores/kit/timers.ts"
import type { RedisClient } from "../../../src/stores/redis/client.ts"
import { createRedisLocks } from "../../../src/stores/redis/locks.ts"
import { clientFor } from "../../../src/stores/redis/own-client.ts"
import { placeOf, taggedPrefix } from "../../../src/stores/redis/place.ts"
import { createRedisStore } from "../../../src/stores/redis/redis-store.ts"
import { PATIENCE_MS } from "../../support/patience.ts"
import { patientClock } from "../../support/patient-clock.ts"
import { startRedis } from "../../support/redis.ts"
import { freshPrefix } from "../../support/redis-prefix.ts"
import { atTheEnd, until as untilWithin } from "../../support/scratch.ts"

export { atTheEnd, rejectsWith } from "../../support/scratch.ts"

/** Waits for the condition, for up to PATIENCE_MS. */
export function until(condition: () => boolean | Promise<boolean>, what?: string): Promise<void> {
  return untilWithin(condition, what, PATIENCE_MS)
}

export interface Place {
  readonly url: string
  readonly prefix: string
}

export interface StoreOptions {
  readonly prefix?: string
  /** Default: so long that no call of a test reaches it. */
  readonly deadlineMs?: number
  readonly clock?: Timers
  readonly onWarning?: (message: string) => void
}

/** A store like that of `redis(server)`, with the test's own deadline. It is closed when the test ends. */
export function aStore(server: string | Redis | Cluster, options: StoreOptions = {}): Store {
  const {
    prefix = "belfry",
    deadlineMs = PATIENCE_MS,
    clock = systemClock,
    onWarning = assert.fail,
  } = options
  const store = createRedisStore(
    () => clientOf(server, deadlineMs),
    { prefix: taggedPrefix(prefix), deadlineMs, where: placeOf(server), onWarning },
    clock,
  )
  atTheEnd(() => store.close())
  return store
}

export async function anOpenStore({ url, prefix }: Place, options: StoreOptions = {}): Promise<Store> {
  const store = aStore(url, { prefix, ...options })
  await store.open()
  return store
}

/** Locks like those of `redisLocks(server)`, with the same changes. */
export async function openLocks(
  server: string | Redis | Cluster,
  { prefix = "belfry", clock = patientClock }: Pick<StoreOptions, "prefix" | "clock"> = {},
): Promise<LockBackend> {
  const backend = createRedisLocks(
    () => clientOf(server, PATIENCE_MS),
    { prefix: taggedPrefix(prefix), deadlineMs: PATIENCE_MS, where: placeOf(server), onWarning: assert.fail },
    clock,
  )
  atTheEnd(() => backend.close())
  await backend.open()
  return backend
}

async function clientOf(server: string | Redis | Cluster, deadlineMs: number) {
  return typeof server === "string"
    ? { client: await clientFor(server, deadlineMs), isOwned: true }
    : { client: server as unknown as RedisClient, isOwned: false }
}

/** The hints that the store receives from now on, without the full set of hints after a connect. */
export async function hintsReceivedBy(store: Store): Promise<Hint[]> {
  const received: Hint[] = []
  await store.listen((hint) => received.push(hint))
  await until(() => received.length >= 3, "the hints after the connect arrive")
  received.length = 0
  return received
}

/** An empty store, and a plain client for its keys. */
export async function aFreshStore(
  place = freshPrefix(),
): Promise<{ store: Store; client: Redis; prefix: string; place: Place }> {
  return { store: await anOpenStore(place), client: aClient(place.url), prefix: `{${place.prefix}}`, place }
}

/** A store on a server that no other test uses. */
export async function aStoreAlone(): Promise<{ store: Store; client: Redis }> {
  const server = await startRedis()
  atTheEnd(() => server.stop())
  return aFreshStore({ url: server.url, prefix: "belfry" })
}

/** How often the server ran each command during the work, including commands in scripts. */
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
