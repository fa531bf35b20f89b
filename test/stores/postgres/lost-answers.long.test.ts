import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { inject, test } from "vitest"
import { versionedName } from "../../../src/stores/postgres/schema/engine-function.ts"
import { faultProxy } from "../../support/fault-proxy.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { aPsql, aStore, atTheEnd, until } from "./scratch.ts"
import { assertRunEverySecond, stopWhenDone, tickingScheduler } from "./seconds.ts"

test("a scheduler that loses answers performs every occurrence, and each once if no claim was lost", async () => {
  const proxy = await faultProxy(inject("postgres").port)
  atTheEnd(() => proxy.close())
  const url = await migratedDatabase()
  const psql = await aPsql(url)
  const countOf = async (what: string): Promise<number> =>
    (await psql.query(`select from belfry.runs where ${what}`)).rowCount!
  const { scheduler, begun, ids } = await tickingScheduler({
    store: aStore(proxy.through(url)),
    lease: "5s",
    pollInterval: "1s",
  })

  const losses = ["fire(", "change(", "fire(", "change(", "due(", "extend("]
  for (const statement of losses) await proxy.loseAnswer(`belfry.${statement}`)
  // Not every claim returns a run. A run whose claim was lost was not begun: it is claimed again, and does not count as lost.
  do {
    await proxy.loseAnswer(`belfry.${versionedName("claim")}(`)
    await sleep(1_200)
  } while ((await countOf("attempt > 1")) === 0)
  await until(
    async () => (await countOf("attempt > 1 and state = 'succeeded'")) > 0,
    "runs whose claim was lost are performed",
  )
  const at = begun.length
  await until(() => begun.length >= at + 4, "more runs begin")
  await stopWhenDone(scheduler, psql, ids)

  await assertRunEverySecond(psql, { schedules: ids.length })
  const withMissingAttempts =
    "lost > 0 or coalesce(jsonb_array_length(attempts), 0) + (outcome is not null)::int <> attempt"
  assert.equal(await countOf(`state <> 'succeeded' or ${withMissingAttempts}`), 0)
  assert.equal(new Set(begun).size, begun.length, "no run of a lost claim was begun")
})
