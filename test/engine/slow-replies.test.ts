import assert from "node:assert/strict"
import { expect, test } from "vitest"
import type { Duration } from "../../src/core/time/duration.ts"
import { defineTask } from "../../src/index.ts"
import type { RunView } from "../../src/scheduler/views.ts"
import { delayedStore } from "../support/delayed-store.ts"
import { faultyStore, type Operation } from "../support/faulty-store.ts"
import { Fleet, taking } from "../support/fleet.ts"

function outcomesOf(run: RunView | null): readonly string[] {
  return run!.attempts.map(({ attempt, outcome }) => `${attempt} ${outcome}`)
}

/** Workers whose calls are slow, and a task that fails once, because only a second attempt needs a confirmation. */
async function slowFleet(
  { count, pollInterval = "1m" }: { count: number; pollInterval?: Duration },
  delayMsOf: (operation: Operation) => number,
) {
  const fleet = new Fleet()
  const begun: number[] = []
  const task = defineTask({
    name: "task",
    lease: "5s",
    retry: { attempts: 5, delay: "200ms", backoff: "fixed" },
    run({ run }) {
      begun.push(run.attempt)
      if (begun.length === 1) throw new Error("once")
    },
  })
  const wires = Array.from({ length: count }, () => faultyStore(fleet.store))
  for (const wire of wires)
    await fleet.started({
      store: delayedStore(wire.store, fleet.clock, delayMsOf),
      tasks: [task],
      pollInterval,
    })
  // After this time the first heartbeats have been answered.
  await fleet.advance("10s")
  return { fleet, wires, begun, enqueue: () => fleet.node().enqueue("task", { id: "a" }) }
}

test("an attempt begins even if claim and confirmation together take nearly a lease", async () => {
  const { fleet, begun, enqueue } = await slowFleet({ count: 2, pollInterval: "1s" }, () => 1_200)

  await enqueue()
  await fleet.advance("1m")

  const run = await fleet.node().runs.get("a")
  expect(outcomesOf(run)).toEqual(["1 failed", "2 succeeded"])
  expect(begun).toEqual([1, 2])
  await fleet[Symbol.asyncDispose]()
})

test("an attempt whose confirmation is answered too late is released and doesn't count as lost", async () => {
  let isLate = true
  const { fleet, begun, enqueue } = await slowFleet({ count: 2 }, (operation) =>
    isLate && operation === "heartbeat" ? 2_400 : 1,
  )
  await enqueue()
  await fleet.advance("1m")
  const late = (await fleet.node().runs.get("a"))!
  assert.ok(late.attempts.length > 4, "it was tried several times")
  assert.deepEqual(begun, [1])

  isLate = false
  await fleet.advance("1m")

  const run = (await fleet.node().runs.get("a"))!
  expect(run).toMatchObject({ state: "succeeded", lost: 0 })
  expect(run.attempts.filter(({ outcome }) => outcome === "released").length).toBeGreaterThan(2)
  await fleet[Symbol.asyncDispose]()
})

test("the release of an attempt that didn't begin is tried until the store answers", async () => {
  const { fleet, wires, enqueue } = await slowFleet({ count: 1 }, (operation) =>
    operation === "heartbeat" ? 2_400 : 1,
  )
  await enqueue()
  await fleet.advance("300ms")
  for (const wire of wires) wire.breakDown("transition", "claim")
  await fleet.advance("6s")
  expect((await fleet.node().runs.get("a"))!).toMatchObject({ state: "running", attempt: 2 })

  for (const wire of wires) wire.mend()
  await fleet.advance("3s")

  const { attempts } = (await fleet.node().runs.get("a"))!
  expect(attempts[1]).toMatchObject({ attempt: 2, outcome: "released" })
  await fleet[Symbol.asyncDispose]()
})

test("a run that couldn't be released after several tries is found and released later", async () => {
  const { fleet, wires, enqueue } = await slowFleet({ count: 1 }, (operation) =>
    operation === "heartbeat" ? 2_400 : 1,
  )
  await enqueue()
  await fleet.advance("300ms")
  for (const wire of wires) wire.breakDown("transition", "claim", "findRuns")
  await fleet.advance("2m")

  for (const wire of wires) wire.mend()
  await fleet.advance("10s")

  const { attempts } = (await fleet.node().runs.get("a"))!
  expect(attempts[1]).toMatchObject({ attempt: 2, outcome: "released" })
  await fleet[Symbol.asyncDispose]()
})

test("a lease is kept even if each heartbeat takes two fifths of it", async () => {
  await using fleet = new Fleet()
  const begun: number[] = []
  const task = defineTask({
    name: "task",
    lease: "5s",
    async run({ run }) {
      begun.push(run.attempt)
      await taking(fleet.clock, "1m")
    },
  })
  for (let count = 0; count < 2; count++)
    await fleet.started({ store: delayedStore(fleet.store, fleet.clock, () => 1_000), tasks: [task] })

  await fleet.node().enqueue("task", { id: "a" })
  await fleet.advance("2m")

  expect(begun).toEqual([1])
  expect((await fleet.node().runs.get("a"))!.state).toBe("succeeded")
})
