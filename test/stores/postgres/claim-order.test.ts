import assert from "node:assert/strict"
import { test } from "vitest"
import { aClaim, aRun } from "../../../src/store/laws/factories.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { anOpenStore, aPsql, atTheEnd, until, waitersForLocks } from "./scratch.ts"

test("a claim takes the places of its keys in their order, whatever the order of its runs: no two wait for each other", async () => {
  const url = await migratedDatabase()
  const [store, psql, other] = [await anOpenStore(url), await aPsql(url), await aPsql(url)]
  // However slow the machine is, nobody gives up waiting.
  await psql.query("alter function belfry.claim set lock_timeout = '1h'")
  const serial = (id: string, task = "report") =>
    aRun({ id, task, concurrencyKey: id[0]!, concurrencyLimit: 1 })
  await store.enqueue([serial("a0", "elsewhere")])
  for (const id of ["b1", "a1"]) await store.enqueue([serial(id)])
  await store.enqueue([serial("b2", "mail")])
  await other.query("begin")
  await other.query("select belfry.claim('other', '{elsewhere}', '{60000}', 1)")

  const first = store.claim(aClaim({ workerId: "first", limit: 2 }))
  atTheEnd(() => first)
  await until(async () => (await waitersForLocks(psql)) === 1, "the first waits for the place of a")
  const second = await store.claim(aClaim({ workerId: "second", tasks: [{ name: "mail", leaseMs: 60_000 }] }))
  await other.query("rollback")

  assert.deepEqual(
    second.runs.map(({ id }) => id),
    ["b2"],
  )
  assert.deepEqual(
    (await first).runs.map(({ id }) => id),
    ["a1"],
  )
})

test.each([
  ["has no room for both, the later one begins after it", 1, null],
  ["has room for both, the worker looks again at once", 2, 100],
])(
  "runs of a key begin in their order: where another claim is taking the first and the key %s",
  async (_, limit, inMs) => {
    const url = await migratedDatabase()
    const [store, other] = [await anOpenStore(url), await aPsql(url)]
    const limited = (id: string) => aRun({ id, concurrencyKey: "key", concurrencyLimit: limit })
    // One after the other, so that the first is due before.
    await store.enqueue([{ ...limited("first"), delayMs: null, notBefore: 1_000 }])
    await store.enqueue([{ ...limited("second"), delayMs: null, notBefore: 2_000 }])
    await other.query("begin")
    await other.query("select belfry.claim('other', '{report}', '{60000}', 1)")

    const meanwhile = await store.claim(aClaim())
    await other.query("rollback")
    const after = await store.claim(aClaim({ limit: 1 }))

    assert.deepEqual(meanwhile.runs, [])
    assert.equal(meanwhile.nextClaimableAt, inMs === null ? null : meanwhile.now + inMs)
    assert.deepEqual(
      after.runs.map(({ id }) => id),
      ["first"],
    )
  },
)
