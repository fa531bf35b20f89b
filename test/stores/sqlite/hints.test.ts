import assert from "node:assert/strict"
import type { Hint, Store } from "belfry/store"
import { test } from "vitest"
import { cancel } from "../../../src/core/run.ts"
import { aClaim, aHeartbeat, aRun, aSchedule, heldRun } from "../../../src/store/laws/factories.ts"
import { anOpenStore, aPath } from "./scratch.ts"

test("another process's writes are heard of within a moment, each by its kind", async () => {
  const path = aPath()
  const [listener, writer] = [await anOpenStore(path), await anOpenStore(path)]
  const heard = await listenTo(listener)

  await writer.putSchedule(aSchedule(), null)
  await heard.until("schedules")
  await writer.enqueue([aRun()])
  await heard.until("runs")
  const { runs } = await writer.claim(aClaim())
  await writer.transition([cancel(runs[0]!, { reason: null, by: null })!])
  await heard.until("cancelled")

  assert.deepEqual(heard.all, ["schedules", "runs", "cancelled"])
})

test("one's own writes are heard of at once, and once", async () => {
  const path = aPath()
  const [store, other] = [await anOpenStore(path), await anOpenStore(path)]
  const heard = await listenTo(store)

  await store.enqueue([aRun()])
  assert.deepEqual(heard.all, ["runs"])
  // Another's commit makes the listener look: what it wrote itself is no news to it.
  await other.heartbeat(aHeartbeat())
  await pass(250)

  assert.deepEqual(heard.all, ["runs"])
})

test("heartbeats and claims are no news: processes don't keep one another awake", async () => {
  const path = aPath()
  const [listener, worker] = [await anOpenStore(path), await anOpenStore(path)]
  await worker.enqueue([aRun()])
  const heard = await listenTo(listener)

  const { runs } = await worker.claim(aClaim())
  await worker.heartbeat(aHeartbeat({ held: runs.map((run) => heldRun(run)) }))
  await pass(250)

  assert.deepEqual(heard.all, [])
})

async function listenTo(store: Store) {
  const all: Hint[] = []
  await store.listen((hint) => void all.push(hint))
  return {
    all,
    async until(hint: Hint) {
      for (let times = 0; times < 200 && !all.includes(hint); times++) await pass(10)
      assert.ok(all.includes(hint), `"${hint}" is heard within two seconds`)
    },
  }
}

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
