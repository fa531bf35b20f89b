import assert from "node:assert/strict"
import { memory } from "belfry"
import { postgres } from "belfry/postgres"
import { redis } from "belfry/redis"
import { sqlite } from "belfry/sqlite"
import { test } from "vitest"
import { systemClock } from "../../src/runtime/clock.ts"
import { isTransactional, kindOfStore } from "../../src/store.ts"
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts"

test("each store has a kind for the log", () => {
  const stores = [
    memory(),
    sqlite(":memory:"),
    postgres("postgres://localhost/x"),
    redis("redis://localhost"),
    createMemoryStore(systemClock),
  ]

  assert.deepEqual(stores.map(kindOfStore), ["memory", "sqlite", "postgres", "redis", "unnamed"])
})

test("the entry point for authors of stores has the function that tells whether a store can work in a transaction", () => {
  assert.equal(isTransactional(sqlite(":memory:")), true)
  assert.equal(isTransactional(memory()), false)
})
