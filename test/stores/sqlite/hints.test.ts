import assert from "node:assert/strict"
import type { Hint, Store } from "belfry/store"
import { test } from "vitest"
import { cancel } from "../../../src/core/run/run.ts"
import { aClaim, aHeartbeat, aRun, aSchedule, heldRun } from "../../../src/store/laws/factories.ts"
import { advance, aVirtualClock } from "../../lock/lab.ts"
import { anOpenStore, aPath } from "./scratch.ts"

/** How often the file is checked, by the listener's clock. */
const WATCH_MS = 100

async function aListener(path: string) {
  const clock = aVirtualClock()
  const store = await anOpenStore(path, { clock })
  return { store, check: () => advance(clock, WATCH_MS) }
}

async function heardBy(store: Store): Promise<readonly Hint[]> {
  const heard: Hint[] = []
  await store.listen((hint) => void heard.push(hint))
  return heard
}

test("a listener gets a hint of the right kind for each write of another process, at the next check", async () => {
  const path = aPath()
  const { store: listener, check } = await aListener(path)
  const writer = await anOpenStore(path)
  const heard = await heardBy(listener)

  await writer.putSchedule(aSchedule(), null)
  await check()
  const afterSchedule = [...heard]
  await writer.enqueue([aRun()])
  await check()
  const afterRun = [...heard]
  const { runs } = await writer.claim(aClaim())
  await writer.transition([cancel(runs[0]!, { reason: null, by: null })!])
  await check()

  assert.deepEqual(
    [afterSchedule, afterRun, heard],
    [["schedules"], ["schedules", "runs"], ["schedules", "runs", "cancelled", "ended"]],
  )
})

test("a listener gets a hint for its own store's write at once, and only once", async () => {
  const path = aPath()
  const { store, check } = await aListener(path)
  const other = await anOpenStore(path)
  const heard = await heardBy(store)

  await store.enqueue([aRun()])
  const atOnce = [...heard]
  // Another store's commit makes the listener check the file. It must not repeat the hint for its own write.
  await other.heartbeat(aHeartbeat())
  await check()
  await check()

  assert.deepEqual([atOnce, heard], [["runs"], ["runs"]])
})

test("heartbeats and claims send no hints, so processes don't keep one another awake", async () => {
  const path = aPath()
  const { store: listener, check } = await aListener(path)
  const worker = await anOpenStore(path)
  await worker.enqueue([aRun()])
  const heard = await heardBy(listener)

  const { runs } = await worker.claim(aClaim())
  await worker.heartbeat(aHeartbeat({ held: runs.map((run) => heldRun(run)) }))
  await check()
  await check()

  assert.deepEqual(heard, [])
})
