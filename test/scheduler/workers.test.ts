import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import type { Store } from "../../src/store/store.ts"
import { aborted, Fleet } from "../support/fleet.ts"

test("workers come by id, page after page, each once", async () => {
  await using fleet = new Fleet()
  const task = defineTask({ name: "task", run: () => undefined })
  for (let started = 0; started < 5; started++) await fleet.started({ tasks: [task] })
  await fleet.advance("30s")
  const observer = fleet.node()

  const all = (await observer.workers()).map(({ id }) => id)
  const first = await observer.workers({ limit: 2 })
  const second = await observer.workers({ after: first[1]!.id, limit: 2 })
  const third = await observer.workers({ after: second[1]!.id, limit: 2 })

  assert.deepEqual([all.length, all], [5, all.toSorted()])
  assert.deepEqual(
    [...first, ...second, ...third].map(({ id }) => id),
    all,
  )
})

test("a worker that was killed is silent once its heartbeat is overdue, by the store's clock", async () => {
  await using fleet = new Fleet()
  const task = defineTask({ name: "task", run: () => undefined })
  const store = killable(fleet.store)
  await fleet.started({ tasks: [task], store: store.link })
  await fleet.started({ tasks: [task] })
  const observer = fleet.node()
  const silent = async () => (await observer.workers()).map(({ silentForMs }) => silentForMs)

  store.kill()
  await fleet.advance("80s")
  const early = await silent()
  await fleet.advance("30s")
  const late = await silent()

  assert.deepEqual(early, [null, null])
  assert.deepEqual(
    late.filter((ms) => ms !== null),
    [110_000],
  )
})

test("a task with a lease of its own lets its worker be silent for as long", async () => {
  await using fleet = new Fleet()
  const slow = defineTask({ name: "slow", lease: "10m", run: ({ signal }) => aborted(signal) })
  const store = killable(fleet.store)
  const worker = await fleet.started({ tasks: [slow], store: store.link })
  await worker.enqueue(slow)
  await fleet.advance("5m")

  store.kill()
  await fleet.advance("5m")
  const [known] = await fleet.node({ tasks: [slow] }).workers()
  const [stranger] = await fleet.node().workers()

  assert.equal(known!.running, 1)
  assert.equal(known!.silentForMs, null)
  assert.ok(stranger!.silentForMs! > 30_000)
})

test("a worker whose only run was cancelled is not silent: its next heartbeat says that it holds nothing", async () => {
  await using fleet = new Fleet()
  const slow = defineTask({ name: "slow", run: ({ signal }) => aborted(signal) })
  const worker = await fleet.started({ tasks: [slow] })
  const { runId } = await worker.enqueue(slow)
  await fleet.advance("25s")

  await fleet.node().runs.cancel(runId)

  for (let seconds = 0; seconds < 120; seconds += 5) {
    await fleet.advance("5s")
    const [seen] = await fleet.node().workers()
    assert.equal(seen!.silentForMs, null, `after ${seconds + 5} s`)
  }
  const [idle] = await fleet.node().workers()
  assert.equal(idle!.running, 0)
})

/** No heartbeat of this process arrives once it was killed. */
function killable(store: Store): { link: Store; kill: () => void } {
  let isDead = false
  const link = new Proxy(store, {
    get: (target, name) =>
      isDead && name === "heartbeat" ? () => Promise.reject(new Error("killed")) : Reflect.get(target, name),
  })
  return {
    link,
    kill: () => {
      isDead = true
    },
  }
}
