import assert from "node:assert/strict"
import { defineTask } from "belfry"
import { test } from "vitest"
import * as z from "zod"
import type { Json } from "../../src/core/values/json.ts"
import type { Store } from "../../src/store/store.ts"
import { collectedLog } from "../support/collected-log.ts"
import { Fleet } from "../support/fleet.ts"

/** The database of this test refuses any record that contains this text. */
const TOO_LONG = "too long for the index"

function refusing(store: Store): Store {
  const checked = <Part extends { payload: Json } | { details: Json }>(part: Part): Part =>
    JSON.stringify(part).includes(TOO_LONG) ? { ...part, payload: 1n, details: 1n } : part
  return {
    ...store,
    fire: (plans) => store.fire(plans.map((plan) => ({ ...plan, runs: plan.runs.map(checked) }))),
    transition: (changes) => store.transition(changes.map(checked)),
    enqueue: (runs) => store.enqueue(runs.map(checked)),
  }
}

async function aNode(result: (id: string) => unknown = () => "done") {
  const fleet = new Fleet()
  const performed: string[] = []
  const task = defineTask({
    name: "task",
    payload: z.any(),
    run({ run }) {
      performed.push(run.scheduleId ?? run.id)
      return result(run.id)
    },
  })
  const node = await fleet.started({ store: refusing(fleet.store), tasks: [task] })
  return { fleet, node, task, performed }
}

test("a schedule whose runs the store refuses is put on hold with the reason, and other schedules fire", async () => {
  const { fleet, node, task, performed } = await aNode()
  await node.schedules.create("bad", { task, every: "1m", payload: TOO_LONG as never })
  await node.schedules.create("good", { task, every: "1m" })

  await fleet.advance("3m")

  assert.deepEqual(performed, ["good", "good", "good"])
  const bad = (await node.schedules.get("bad"))!
  assert.match(bad.lastError!, /can't be written as JSON/)
  assert.equal(bad.nextRunAt, null)
  await fleet[Symbol.asyncDispose]()
})

test("a schedule on hold fires again after it is repaired", async () => {
  const { fleet, node, task, performed } = await aNode()
  await node.schedules.create("bad", { task, every: "1m", payload: TOO_LONG as never })
  await fleet.advance("2m")

  await node.schedules.update("bad", { payload: "short" as never, every: "2m" }, { ifRevision: 1 })
  await fleet.advance("4m")

  assert.deepEqual(performed, ["bad", "bad"])
  assert.equal((await node.schedules.get("bad"))!.lastError, null)
  await fleet[Symbol.asyncDispose]()
})

test("a run whose end the store refuses fails with the reason, and other runs of its worker end", async () => {
  const { fleet, node, task } = await aNode((id) => (id === "bad" ? TOO_LONG : "done"))
  for (const id of ["first", "bad", "last"]) await node.enqueue(task, { id })

  await fleet.advance("1s")

  const states = await Promise.all(
    ["first", "bad", "last"].map(async (id) => (await node.runs.get(id))!.state),
  )
  assert.deepEqual(states, ["succeeded", "failed", "succeeded"])
  assert.match((await node.runs.get("bad"))!.error!, /The run's end can't be stored: .*JSON/)
  await fleet[Symbol.asyncDispose]()
})

test("enqueue rejects with BELFRY_STORE_REFUSED if the store refuses the run", async () => {
  const { fleet, node, task } = await aNode()

  await assert.rejects(node.enqueue(task, { payload: TOO_LONG as never }), { code: "BELFRY_STORE_REFUSED" })
  await fleet[Symbol.asyncDispose]()
})

test("a store that refuses every end of a run is asked twice, and the error is logged", async () => {
  await using fleet = new Fleet()
  let asked = 0
  const store: Store = {
    ...fleet.store,
    transition: async (changes) => {
      asked += changes.length
      return changes.map(() => ({ outcome: "unstorable", why: "no end can be stored" }))
    },
  }
  const log = collectedLog()
  const task = defineTask({ name: "t", run: () => "done" })
  const node = await fleet.started({ store, tasks: [task], logger: log.logger })

  await node.enqueue(task)
  await fleet.advance("1s")

  assert.equal(asked, 2)
  assert.ok(log.lines.some(({ message }) => message === "The run's end can't be stored"))
})
