import assert from "node:assert/strict"
import type { Hint, Store } from "belfry/store"
import { type Cluster, Redis } from "ioredis"
import type { LockBackend } from "../../../src/lock.ts"
import { systemClock } from "../../../src/runtime/clock.ts"
import type { RedisClient, Waiting } from "../../../src/stores/redis/client.ts"
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

/** Waits for the condition, for as long as it takes. */
export function until(condition: () => boolean | Promise<boolean>, what?: string): Promise<void> {
  return untilWithin(condition, what, PATIENCE_MS)
}

export interface Place {
  readonly url: string
  readonly prefix: string
}

export interface StoreOptions {
  readonly prefix?: string
  /** Unless it is given, no call of a test reaches it. */
  readonly deadlineMs?: number
  readonly clock?: Waiting
  readonly onWarning?: (message: string) => void
}

/** As `redis(server)` makes it, with a deadline of the test's own. It is closed when the test ends. */
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

/** As `redisLocks(server)` makes them, likewise. */
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
    ? { client: await clientFor(server, deadlineMs), isOurs: true }
    : { client: server as unknown as RedisClient, isOurs: false }
}

/** What the store hears from now on, but for what it is told when its connection is new: everything. */
export async function heardBy(store: Store): Promise<Hint[]> {
  const heard: Hint[] = []
  await store.listen((hint) => heard.push(hint))
  await until(() => heard.length >= 3, "the connection is told of")
  heard.length = 0
  return heard
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
