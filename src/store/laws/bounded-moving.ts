import assert from "node:assert/strict"
import { succeed } from "../../core/run.ts"
import type { RunSummary } from "../../core/run-summary.ts"
import type { ClaimRequest } from "../store.ts"
import { aClaim, aRun, aSkip, LONG_MS, MOMENT_MS } from "./factories.ts"
import { lawCase } from "./law.ts"
import { aPage, idsOf, several, withPeers } from "./steps.ts"

const NOTHING = { message: null, details: null }
const ROUNDS = 10
const EACH_ROUND = 20
/** Finished runs between those that stay and those that come: a store that looks through its history does it in parts. */
const PAST = 1_000

/** Bounded, of what moves: a page is one look at the store, or several that together see whatever stays where it is. */
export const BOUNDED_MOVING = [
  lawCase("A run that goes on running is in every page, while others begin and end", async (store, lab) => {
    const readers = await withPeers(store, lab)
    await store.enqueue(several(5, () => aRun({ task: "long" })))
    const staying = idsOf((await store.claim(claimOf("long"))).runs)
    await store.enqueue(several(PAST, () => aSkip()))
    await lab.pass(MOMENT_MS)

    for (let round = 0; round < ROUNDS; round++) {
      await store.enqueue(several(EACH_ROUND, () => aRun({ task: "short" })))
      // They ask first: who counts before they look has counted too few when others have begun.
      const pages = readers.map((reader) => reader.findRuns({ states: ["running"] }, ALL))
      const { runs } = await store.claim(claimOf("short"))
      for (const page of await Promise.all(pages)) assertAllIn(page, staying)
      await store.transition(runs.map((run) => succeed(run, NOTHING)))
    }
  }),
  lawCase("A run that goes on waiting is in every page, while others come", async (store, lab) => {
    const readers = await withPeers(store, lab)
    const staying = several(5, () => aRun({ task: "long", delayMs: LONG_MS }))
    await store.enqueue(staying)
    await store.enqueue(several(PAST, () => aSkip()))
    await lab.pass(MOMENT_MS)

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
  assert.deepEqual(missing, [], `${page.length} runs are found, and these are not among them`)
}
