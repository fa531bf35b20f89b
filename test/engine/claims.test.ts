import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { aRun } from "../../src/store/laws/factories.ts"
import type { Store } from "../../src/store/store.ts"
import { Fleet, gate, taking } from "../support/fleet.ts"

/** More than two claims take. */
const MANY = 2_400

/** A fleet whose store has many due runs of the task `note`. */
async function fleetWithRuns(): Promise<Fleet> {
  const fleet = new Fleet()
  await fleet.store.enqueue(
    Array.from({ length: MANY }, (_, index) => aRun({ id: `run-${index}`, task: "note" })),
  )
  return fleet
}

test("the next claim is under way before the runs of the last one begin", async () => {
  await using fleet = await fleetWithRuns()
  const order: string[] = []
  const store: Store = {
    ...fleet.store,
    claim(request) {
      order.push("claim")
      return fleet.store.claim(request)
    },
  }
  const note = defineTask({ name: "note", run: () => void order.push("run") })

  await fleet.started({ store, tasks: [note], concurrency: 4_000 })
  await fleet.advance("1s")

  const secondClaimAt = order.indexOf("claim", 1)
  assert.ok(secondClaimAt < order.indexOf("run"), "the second claim is made before the first run begins")
  assert.equal(order.filter((what) => what === "run").length, MANY)
})

test("claims that are made ahead never take more runs than there are slots", async () => {
  await using fleet = await fleetWithRuns()
  let running = 0
  let most = 0
  const note = defineTask({
    name: "note",
    async run() {
      most = Math.max(most, ++running)
      await taking(fleet.clock, "10s")
      running--
    },
  })

  const node = await fleet.started({ tasks: [note], concurrency: 1_200 })
  await fleet.advance("5s")
  assert.equal((await node.runs.count()).running, 1_200)
  await fleet.advance("1m")

  assert.deepEqual([most, (await node.runs.count()).succeeded], [1_200, MANY])
})

test("with a nextDelay, no claim is made ahead", async () => {
  await using fleet = await fleetWithRuns()
  const claimedAt: number[] = []
  const store: Store = {
    ...fleet.store,
    claim(request) {
      claimedAt.push(fleet.clock.now())
      return fleet.store.claim(request)
    },
  }
  const note = defineTask({ name: "note", run: () => undefined })

  await fleet.started({ store, tasks: [note], concurrency: 4_000, nextDelay: "1s" })
  await fleet.advance("3s")

  const gaps = claimedAt.slice(1).map((at, index) => at - claimedAt[index]!)
  assert.ok(gaps.length >= 2 && gaps.every((gap) => gap >= 1_000), `${gaps}`)
})

test("a stop waits for a claim that was made ahead, and no run is left with the worker", async () => {
  await using fleet = await fleetWithRuns()
  const answering = gate()
  let claims = 0
  const store: Store = {
    ...fleet.store,
    async claim(request) {
      const claimed = await fleet.store.claim(request)
      if (++claims === 2) await answering.promise
      return claimed
    },
  }
  const note = defineTask({ name: "note", run: () => undefined })
  const node = await fleet.started({ store, tasks: [note], concurrency: 4_000 })
  await fleet.advance("1s")
  const { running: unanswered } = await node.runs.count()
  assert.ok(unanswered > 0 && claims === 2, "the second claim has taken runs and isn't answered yet")

  const stopping = node.stop()
  answering.open()
  await fleet.advance("10s")
  await stopping

  const { running, succeeded, pending } = await fleet.node().runs.count()
  assert.deepEqual([running, succeeded + pending, claims], [0, MANY, 2])
})

test("if a claim that was made ahead fails, the runs before it are performed, and claiming goes on", async () => {
  await using fleet = await fleetWithRuns()
  let claims = 0
  const store: Store = {
    ...fleet.store,
    claim(request) {
      if (++claims === 2) return Promise.reject(new Error("The store is away"))
      return fleet.store.claim(request)
    },
  }
  const note = defineTask({ name: "note", run: () => undefined })

  const node = await fleet.started({ store, tasks: [note], concurrency: 4_000 })
  await fleet.advance("1m")

  assert.equal((await node.runs.count()).succeeded, MANY)
})
