import assert from "node:assert/strict"
import { test } from "vitest"
import { succeed } from "../../../src/core/run/run.ts"
import { aClaim, aRun } from "../../../src/store/laws/factories.ts"
import { several } from "../../../src/store/laws/steps.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { anOpenStore, aPsql } from "./scratch.ts"

/** Each running run of a limited key has a slot: the lowest free one. */

const LIMIT_MAX = 2_147_483_647

test("slots of a key are assigned from 0 and reused, with the highest possible limit", async () => {
  const url = await migratedDatabase()
  const psql = await aPsql(url)
  const store = await anOpenStore(url)
  const ofKey = (count: number) =>
    several(count, () => aRun({ concurrencyKey: "k", concurrencyLimit: LIMIT_MAX }))
  const slots = async () => {
    const { rows } = await psql.query("select slot from belfry.runs where state = 'running' order by slot")
    return rows.map(({ slot }) => slot)
  }
  await store.enqueue(ofKey(4))
  const { runs } = await store.claim(aClaim({ limit: 4 }))
  assert.deepEqual(await slots(), [0, 1, 2, 3])

  await store.transition(runs.slice(1, 3).map((run) => succeed(run, { message: null, details: null })))
  assert.deepEqual(await slots(), [0, 3])
  await store.enqueue([...ofKey(3), aRun({ concurrencyKey: "other", concurrencyLimit: LIMIT_MAX })])
  await store.claim(aClaim({ limit: 4 }))

  assert.deepEqual(await slots(), [0, 0, 1, 2, 3, 4], "free slots are used again")
})
