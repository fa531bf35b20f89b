import assert from "node:assert/strict"
import { describe, test } from "vitest"
import type { NewRun } from "../../../src/core/run/run.ts"
import { aClaim, aRun } from "../../../src/store/laws/factories.ts"
import { idsOf } from "../../../src/store/laws/steps.ts"
import { versionedName } from "../../../src/stores/postgres/schema/engine-function.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { anOpenStore, aPsql, atTheEnd, until, waitersForLocks } from "./scratch.ts"

test("a claim locks its keys in key order, not in the order of its runs, so two claims cannot deadlock", async () => {
  const url = await migratedDatabase()
  const [store, psql, other] = [await anOpenStore(url), await aPsql(url), await aPsql(url)]
  // A long timeout, so that no claim gives up on a slow machine.
  await psql.query("alter function belfry.claim set lock_timeout = '1h'")
  const serial = (id: string, task = "report") =>
    aRun({ id, task, concurrencyKey: id[0]!, concurrencyLimit: 1 })
  await store.enqueue([serial("a0", "elsewhere")])
  for (const id of ["b1", "a1"]) await store.enqueue([serial(id)])
  await store.enqueue([serial("b2", "mail")])
  await other.query("begin")
  await other.query(`select belfry.${versionedName("claim")}('other', '{elsewhere}', '{60000}', 1)`)

  const first = store.claim(aClaim({ workerId: "first", limit: 2 }))
  atTheEnd(() => first)
  await until(async () => (await waitersForLocks(psql)) === 1, "the first claim waits for the key a")
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

describe("runs of a key are claimed in order", () => {
  const limited = (id: string, limit: number, due: number, task = "report") =>
    aRun({ id, task, concurrencyKey: "key", concurrencyLimit: limit, delayMs: null, notBefore: due })

  /** Another claim is taking the first run, in an open transaction. */
  async function whileTheFirstIsTaken(runs: readonly NewRun[]) {
    const url = await migratedDatabase()
    const [store, other] = [await anOpenStore(url), await aPsql(url)]
    await store.enqueue(runs)
    await other.query("begin")
    await other.query(`select belfry.${versionedName("claim")}('other', '{report}', '{60000}', 1)`)
    const tasks = ["report", "mail"].map((name) => ({ name, leaseMs: 600_000 }))
    const meanwhile = await store.claim(aClaim({ tasks, limit: 10 }))
    await other.query("rollback")
    const after = await store.claim(aClaim({ tasks, limit: 10 }))
    return { meanwhile: idsOf(meanwhile.runs), after: idsOf(after.runs) }
  }

  test("while another claim takes the first run, the second is not claimed instead", async () => {
    const runs = [limited("first", 1, 1_000), limited("second", 1, 2_000)]

    assert.deepEqual(await whileTheFirstIsTaken(runs), { meanwhile: [], after: ["first"] })
  })

  test("while another claim takes the first run, a second of another task is not claimed instead", async () => {
    const runs = [limited("first", 1, 1_000), limited("second", 1, 2_000, "mail")]

    assert.deepEqual(await whileTheFirstIsTaken(runs), { meanwhile: [], after: ["first"] })
  })

  test("thirty runs that wait for the key do not block runs behind them", async () => {
    const waiting = Array.from({ length: 30 }, (_, index) => limited(`waiting-${index}`, 1, 2_000 + index))
    const runs = [
      limited("first", 1, 1_000),
      ...waiting,
      aRun({ id: "other", delayMs: null, notBefore: 5_000 }),
    ]

    assert.deepEqual(await whileTheFirstIsTaken(runs), { meanwhile: ["other"], after: ["first"] })
  })
})
