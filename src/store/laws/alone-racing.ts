import assert from "node:assert/strict"
import { type Run, succeed } from "../../core/run/run.ts"
import { aClaim, aHeartbeat, aRun, heldRun, SHORT_MS } from "./factories.ts"
import { lawCase } from "./law.ts"
import { idsOf, runById, several, sorted, together, withPeers } from "./steps.ts"

const NOTHING = { message: null, details: null }
const SHORT_LEASE = { tasks: [{ name: "report", leaseMs: SHORT_MS }] }

/** Alone, for concurrent callers: each attempt has one worker, in every order of events. */
export const ALONE_RACING = [
  lawCase(
    "Twenty workers that claim two hundred runs at once are given each run once",
    async (store, lab) => {
      const peers = await withPeers(store, lab)
      await store.enqueue(several(200, () => aRun()))

      const given: Run[] = []
      for (let rounds = 0; rounds < 20 && given.length < 200; rounds++) {
        const claims = await together(peers, 20, (peer, index) =>
          peer.claim(aClaim({ workerId: `w${index}`, limit: 10 })),
        )
        given.push(...claims.flatMap(({ runs }) => runs))
      }

      assert.equal(given.length, 200)
      assert.equal(new Set(idsOf(given)).size, 200)
      assert.ok(given.every((run) => run.attempt === 1))
      for (const run of given.slice(0, 20))
        assert.equal((await runById(store, run.id)).workerId, run.workerId)
    },
  ),
  lawCase(
    "Twenty workers that take over a dead worker's runs at once are given each run once",
    async (store, lab) => {
      const peers = await withPeers(store, lab)
      await store.enqueue(several(40, () => aRun()))
      await store.claim(aClaim({ workerId: "dead", ...SHORT_LEASE }))
      await lab.pass(2 * SHORT_MS)

      const given: Run[] = []
      for (let rounds = 0; rounds < 20 && given.length < 40; rounds++) {
        const claims = await together(peers, 20, (peer, index) =>
          peer.claim(aClaim({ workerId: `w${index}`, limit: 4 })),
        )
        given.push(...claims.flatMap(({ runs }) => runs))
      }

      assert.equal(new Set(idsOf(given)).size, 40)
      assert.deepEqual([given.length, given.every((run) => run.attempt === 2)], [40, true])
    },
  ),
  lawCase(
    "A run is either finished by its late worker or taken by another worker, never both",
    async (store, lab) => {
      const peers = await withPeers(store, lab)
      await store.enqueue(several(20, () => aRun()))
      const { runs } = await store.claim(aClaim({ workerId: "late", ...SHORT_LEASE }))
      await lab.pass(2 * SHORT_MS)

      const [claims, answers] = await Promise.all([
        together(peers, 10, (peer, index) => peer.claim(aClaim({ workerId: `w${index}`, limit: 2 }))),
        together(peers, 20, async (peer, index) => {
          const [answer] = await peer.transition([succeed(runs[index]!, NOTHING)])
          return answer!
        }),
      ])

      const taken = new Set(claims.flatMap((claim) => idsOf(claim.runs)))
      for (const [index, run] of runs.entries()) {
        const isFinished = answers[index]!.outcome === "done"
        assert.ok(!(isFinished && taken.has(run.id)), "finished or taken, not both")
        const { state, attempt } = await runById(store, run.id)
        assert.deepEqual([state, attempt], isFinished ? ["succeeded", 1] : ["running", 2])
      }
    },
  ),
  lawCase("A late heartbeat returns exactly the runs that other workers took as lost", async (store, lab) => {
    const peers = await withPeers(store, lab)
    await store.enqueue(several(20, () => aRun()))
    const { runs } = await store.claim(aClaim({ workerId: "late", ...SHORT_LEASE }))
    await lab.pass(2 * SHORT_MS)

    const [claims, { gone }] = await Promise.all([
      together(peers, 5, (peer, index) => peer.claim(aClaim({ workerId: `w${index}`, limit: 2 }))),
      store.heartbeat(aHeartbeat({ held: runs.map((run) => heldRun(run)) })),
    ])

    const taken = claims.flatMap((claim) => idsOf(claim.runs))
    assert.equal(new Set(taken).size, taken.length)
    assert.deepEqual(sorted(gone.map(({ runId }) => runId)), sorted(taken))
  }),
]
