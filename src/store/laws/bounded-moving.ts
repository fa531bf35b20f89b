import assert from "node:assert/strict"
import { succeed } from "../../core/run/run.ts"
import type { RunSummary } from "../../core/run/run-summary.ts"
import type { ClaimRequest } from "../store.ts"
import { aClaim, aRun, aSkip, DISTINCT_MS, LONG_MS } from "./factories.ts"
import { lawCase } from "./law.ts"
import { aPage, idsOf, several, withPeers } from "./steps.ts"

const NOTHING = { message: null, details: null }
const ROUNDS = 10
const EACH_ROUND = 20
/** Finished runs between the old and the new unfinished ones: a store that scans its history scans it in parts. */
const PAST = 1_000

/** Bounded, for runs that change: a page holds every run that doesn't change during the call, even if it is read in parts. */
export const BOUNDED_MOVING = [
  lawCase("A run that stays running is on every page, while other runs begin and end", async (store, lab) => {
    const readers = await withPeers(store, lab)
    await store.enqueue(several(5, () => aRun({ task: "long" })))
    const staying = idsOf((await store.claim(claimOf("long"))).runs)
    await store.enqueue(several(PAST, () => aSkip()))
    await lab.pass(DISTINCT_MS)

    for (let round = 0; round < ROUNDS; round++) {
      await store.enqueue(several(EACH_ROUND, () => aRun({ task: "short" })))
      // The reads begin first: a store that counts the running runs before it reads them reads too few once others have begun.
      const pages = readers.map((reader) => reader.findRuns({ states: ["running"] }, ALL))
      const { runs } = await store.claim(claimOf("short"))
      for (const page of await Promise.all(pages)) assertAllIn(page, staying)
      await store.transition(runs.map((run) => succeed(run, NOTHING)))
    }
  }),
  lawCase("A run that stays pending is on every page, while other runs are enqueued", async (store, lab) => {
    const readers = await withPeers(store, lab)
    const staying = several(5, () => aRun({ task: "long", delayMs: LONG_MS }))
    await store.enqueue(staying)
    await store.enqueue(several(PAST, () => aSkip()))
    await lab.pass(DISTINCT_MS)

    for (let round = 0; round < ROUNDS; round++) {
      const pages = readers.map((reader) => reader.findRuns({ states: ["pending"] }, ALL))
      await store.enqueue(several(EACH_ROUND, () => aRun({ task: "short" })))
      for (const page of await Promise.all(pages)) assertAllIn(page, idsOf(staying))
    }
  }),
]

const ALL = aPage({ limit: 1_000 })

function claimOf(task: string): ClaimRequest {
  return aClaim({ tasks: [{ name: task, leaseMs: LONG_MS }] })
}

function assertAllIn(page: readonly RunSummary[], ids: readonly string[]): void {
  const found = new Set(idsOf(page))
  const missing = ids.filter((id) => !found.has(id))
  assert.deepEqual(missing, [], `${page.length} runs are found, but not these`)
}
