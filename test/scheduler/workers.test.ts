import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask, type ScheduleView } from "../../src/index.ts"
import type { Store } from "../../src/store/store.ts"
import { aborted, Fleet } from "../support/fleet.ts"

test("workers are listed by id, page by page, each once", async () => {
  await using fleet = new Fleet()
  const task = defineTask({ name: "task", run: () => undefined })
  for (let started = 0; started < 5; started++) await fleet.started({ tasks: [task] })
  await fleet.advance("30s")
  const observer = fleet.node()

  const all = (await observer.workers()).items.map(({ id }) => id)
  const first = await observer.workers({ limit: 2 })
  const second = await observer.workers({ cursor: first.next!, limit: 2 })
  const third = await observer.workers({ cursor: second.next!, limit: 2 })

  assert.deepEqual([all.length, all], [5, all.toSorted()])
  assert.deepEqual(
    [first, second, third].flatMap(({ items }) => items).map(({ id }) => id),
    all,
  )
})

test("a killed worker is silent once its heartbeat is overdue by the store's clock", async () => {
  await using fleet = new Fleet()
  const task = defineTask({ name: "task", run: () => undefined })
  const store = killable(fleet.store)
  await fleet.started({ tasks: [task], store: store.link })
  await fleet.started({ tasks: [task] })
  const observer = fleet.node()
  const silent = async () => (await observer.workers()).items.map(({ silentForMs }) => silentForMs)

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

test("a worker whose heartbeat comes while the workers are read isn't silent", async () => {
  await using fleet = new Fleet()
  const task = defineTask({ name: "task", run: () => undefined })
  await fleet.started({ tasks: [task] })
  const findWorkers: Store["findWorkers"] = async (page) => {
    const workers = await fleet.store.findWorkers(page)
    await fleet.advance("10m")
    return workers
  }
  const observer = fleet.node({ store: { ...fleet.store, findWorkers } })

  const [worker] = (await observer.workers()).items

  assert.equal(worker?.silentForMs, null)
})

test("a worker with a run of a task with its own lease is silent only after that lease, for every observer", async () => {
  await using fleet = new Fleet()
  const slow = defineTask({ name: "slow", lease: "10m", run: ({ signal }) => aborted(signal) })
  const store = killable(fleet.store)
  const worker = await fleet.started({ tasks: [slow], store: store.link })
  await worker.enqueue(slow)
  await fleet.advance("5m")

  store.kill()
  await fleet.advance("5m")
  const [known] = (await fleet.node({ tasks: [slow] }).workers()).items
  const [other] = (await fleet.node().workers()).items

  assert.equal(known!.running, 1)
  assert.deepEqual([known!.silentForMs, other!.silentForMs], [null, null])
  await fleet.advance("6m")
  assert.ok((await fleet.node().workers()).items[0]!.silentForMs! > 600_000)
})

test("a worker whose only run was cancelled is not silent", async () => {
  await using fleet = new Fleet()
  const slow = defineTask({ name: "slow", run: ({ signal }) => aborted(signal) })
  const worker = await fleet.started({ tasks: [slow] })
  const { runId } = await worker.enqueue(slow)
  await fleet.advance("25s")

  await fleet.node().runs.cancel(runId)

  for (let seconds = 0; seconds < 120; seconds += 5) {
    await fleet.advance("5s")
    const [seen] = (await fleet.node().workers()).items
    assert.equal(seen!.silentForMs, null, `after ${seconds + 5} s`)
  }
  const [idle] = (await fleet.node().workers()).items
  assert.equal(idle!.running, 0)
})

/** After `kill`, the heartbeats of this process fail. */
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

test("a schedule has a problem while no worker offers its task", async () => {
  await using fleet = new Fleet()
  const task = defineTask({ name: "report", run: () => undefined })
  const { schedules } = fleet.node()
  const messages = (view: ScheduleView | null) => view?.problems.map(({ message }) => message)

  const created = await schedules.create("s", { task: "report", cron: "@daily" })
  await fleet.started({ tasks: [defineTask({ name: "other", run: () => undefined })] })
  await fleet.advance("1s")
  const misses = await schedules.get("s")
  await fleet.started({ tasks: [task] })
  await fleet.advance("1s")

  assert.deepEqual(messages(created), ["No worker is online: its runs wait."])
  assert.deepEqual(messages(misses), ['No worker that is online offers the task "report": its runs wait.'])
  assert.deepEqual(messages(await schedules.get("s")), [])
  assert.deepEqual(messages(await schedules.update("s", { jitter: "1m" }, { ifRevision: 1 })), [])
  assert.deepEqual(messages((await schedules.list()).items[0]!), [])
})

test("a list of schedules reads the workers once for all pages", async () => {
  await using fleet = new Fleet()
  const calls: string[] = []
  const counting = new Proxy(fleet.store, {
    get(target, name) {
      calls.push(String(name))
      return Reflect.get(target, name)
    },
  })
  const { schedules } = fleet.node({ store: counting })
  for (let count = 0; count < 501; count++) await schedules.create(`s${count}`, { task: "t", cron: "@daily" })
  calls.length = 0

  let listed = 0
  for await (const _ of schedules.list({ limit: 300 })) listed++

  assert.equal(listed, 501)
  assert.deepEqual(
    calls.filter((name) => name.startsWith("find")),
    ["findWorkers", "findSchedules", "findSchedules"],
  )
})
