import assert from "node:assert/strict"
import type { Hint, Store } from "belfry/store"
import { test } from "vitest"
import { cancel } from "../../../src/core/run.ts"
import { aClaim, aHeartbeat, aRun, aSchedule, heldRun } from "../../../src/store/laws/factories.ts"
import { advance, aVirtualClock } from "../../lock/lab.ts"
import { anOpenStore, aPath } from "./scratch.ts"

/** How often the file is looked at, by the clock that the listener was given. */
const WATCH_MS = 100

async function aListener(path: string) {
  const clock = aVirtualClock()
  const store = await anOpenStore(path, { clock })
  return { store, look: () => advance(clock, WATCH_MS) }
}

async function heardBy(store: Store): Promise<readonly Hint[]> {
  const heard: Hint[] = []
  await store.listen((hint) => void heard.push(hint))
  return heard
}

test("another process's writes are heard of within a moment, each by its kind", async () => {
  const path = aPath()
  const { store: listener, look } = await aListener(path)
  const writer = await anOpenStore(path)
  const heard = await heardBy(listener)

  await writer.putSchedule(aSchedule(), null)
  await look()
  const afterSchedule = [...heard]
  await writer.enqueue([aRun()])
  await look()
  const afterRun = [...heard]
  const { runs } = await writer.claim(aClaim())
  await writer.transition([cancel(runs[0]!, { reason: null, by: null })!])
  await look()

  assert.deepEqual(
    [afterSchedule, afterRun, heard],
    [["schedules"], ["schedules", "runs"], ["schedules", "runs", "cancelled", "ended"]],
  )
})

test("one's own writes are heard of at once, and once", async () => {
  const path = aPath()
  const { store, look } = await aListener(path)
  const other = await anOpenStore(path)
  const heard = await heardBy(store)

  await store.enqueue([aRun()])
  const atOnce = [...heard]
  // Another's commit makes the listener look: what it wrote itself is no news to it.
  await other.heartbeat(aHeartbeat())
  await look()
  await look()

  assert.deepEqual([atOnce, heard], [["runs"], ["runs"]])
})

test("heartbeats and claims are no news: processes don't keep one another awake", async () => {
  const path = aPath()
  const { store: listener, look } = await aListener(path)
  const worker = await anOpenStore(path)
  await worker.enqueue([aRun()])
  const heard = await heardBy(listener)

  const { runs } = await worker.claim(aClaim())
  await worker.heartbeat(aHeartbeat({ held: runs.map((run) => heldRun(run)) }))
  await look()
  await look()

  assert.deepEqual(heard, [])
})
