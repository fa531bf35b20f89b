import assert from "node:assert/strict"
import { test } from "vitest"
import { succeed } from "../../../src/core/run.ts"
import { aClaim, aRun } from "../../../src/store/laws/factories.ts"
import { several } from "../../../src/store/laws/steps.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { anOpenStore, aPsql } from "./scratch.ts"

/** Running runs of a limited key have a place each: the lowest that are free. */

const LIMIT_MAX = 2_147_483_647

test("the places of a key cost what is running, however high its limit is", async () => {
  const url = await migratedDatabase()
  const psql = await aPsql(url)
  const store = await anOpenStore(url)
  const ofKey = (count: number) =>
    several(count, () => aRun({ concurrencyKey: "k", concurrencyLimit: LIMIT_MAX }))
  const places = async () => {
    const { rows } = await psql.query("select slot from belfry.runs where state = 'running' order by slot")
    return rows.map(({ slot }) => slot)
  }
  await store.enqueue(ofKey(4))
  const { runs } = await store.claim(aClaim({ limit: 4 }))
  assert.deepEqual(await places(), [0, 1, 2, 3])

  await store.transition(runs.slice(1, 3).map((run) => succeed(run, { message: null, details: null })))
  assert.deepEqual(await places(), [0, 3])
  await store.enqueue([...ofKey(3), aRun({ concurrencyKey: "other", concurrencyLimit: LIMIT_MAX })])
  await store.claim(aClaim({ limit: 4 }))

  assert.deepEqual(await places(), [0, 0, 1, 2, 3, 4], "those that became free are given again")
})
