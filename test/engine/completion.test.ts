import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask, type RunEvent } from "../../src/index.ts"
import type { Store, TransactionalStore } from "../../src/store/store.ts"
import { Fleet } from "../support/fleet.ts"

/** A store whose transactions are committed or rolled back, and whose first reads after the end of a task fail. */
function withTransactions(store: Store, about: { isCommitted: boolean; failures: number }) {
  let failures = about.failures
  const transactional: TransactionalStore = {
    ...store,
    within: () => ({
      ...store,
      transition: async (changes) =>
        about.isCommitted ? store.transition(changes) : changes.map(() => ({ outcome: "done" })),
    }),
    findRuns: (filter, page) =>
      filter.ids !== undefined && failures-- > 0
        ? Promise.reject(new Error("The store is away"))
        : store.findRuns(filter, page),
  }
  return transactional
}

const CASES = [
  { isCommitted: true, ends: ["succeeded"], means: "succeeds" },
  { isCommitted: false, ends: ["failed"], means: "fails instead of being lost with its lease" },
]

for (const { isCommitted, ends, means } of CASES) {
  const how = isCommitted ? "committed" : "rolled back"
  test(`a run whose transaction was ${how} ${means}, although the first reads fail`, async () => {
    await using fleet = new Fleet()
    const events: string[] = []
    const task = defineTask({
      name: "task",
      retry: { attempts: 1 },
      run: ({ complete }) => complete({}, "done"),
    })
    const node = await fleet.started({
      store: withTransactions(fleet.store, { isCommitted, failures: 3 }),
      tasks: [task],
      hooks: { run: ({ type }: RunEvent) => void events.push(type) },
    })

    await node.enqueue(task, { id: "a" })
    await fleet.advance("20s")

    const [run] = await fleet.runs()
    assert.deepEqual([events, run?.state, run?.attempt], [["started", ...ends], ends[0], 1])
  })
}

test("after a stop has ended, the store is no longer asked whether a transaction was committed", async () => {
  await using fleet = new Fleet()
  let reads = 0
  const store = withTransactions(fleet.store, { isCommitted: true, failures: Number.POSITIVE_INFINITY })
  const task = defineTask({ name: "task", run: ({ complete }) => complete({}) })
  const findRuns: Store["findRuns"] = (filter, page) => {
    reads++
    return store.findRuns(filter, page)
  }
  const node = await fleet.started({ store: { ...store, findRuns } as Store, tasks: [task] })
  await node.enqueue(task)
  await fleet.advance("1s")
  await fleet.until(node.stop({ timeout: 0 }))
  const before = reads

  await fleet.advance("1m")

  assert.ok(before > 1)
  assert.equal(reads, before)
})
