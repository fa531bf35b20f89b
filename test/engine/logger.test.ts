import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask, type Logger } from "../../src/index.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet } from "../support/fleet.ts"

const throwing = () => {
  throw new Error("The disk of the log is full")
}

const LOGGERS: readonly [string, Logger][] = [
  ["throws", { debug: throwing, info: throwing, warn: throwing, error: throwing }],
  ["rejects", asynchronous(async () => throwing())],
]

function asynchronous(write: () => Promise<void>): Logger {
  return { debug: write, info: write, warn: write, error: write }
}

for (const [behaviour, logger] of LOGGERS) {
  test(`with a logger that ${behaviour}, schedules fire, runs are performed, and no loop reports a fault`, async () => {
    await using fleet = new Fleet()
    const faults: unknown[] = []
    const task = defineTask({ name: "task", run: () => "done" })
    await fleet.started({
      tasks: [task],
      schedules: [task.schedule("s", { cron: "* * * * *" })],
      logger,
      hooks: { error: (error) => void faults.push(error), claimed: () => throwing() },
    })

    await fleet.advance("3m")

    const runs = await fleet.runs()
    assert.deepEqual(
      runs.map(({ state, attempt }) => [state, attempt]),
      [1, 2, 3].map(() => ["succeeded", 1]),
    )
    assert.deepEqual(faults, [])
  })

  test(`a run whose end can't be stored frees its slot, also with a logger that ${behaviour}`, async () => {
    await using fleet = new Fleet()
    const wire = faultyStore(fleet.store)
    const task = defineTask({ name: "task", run: () => "done" })
    const node = await fleet.started({ store: wire.store, tasks: [task], concurrency: 1, logger })
    wire.breakDown("transition")
    await node.enqueue(task, { id: "unstored" })
    await fleet.advance("25s")
    wire.mend()

    await node.enqueue(task, { id: "next" })
    await fleet.advance("1s")

    assert.equal((await node.runs.get("next"))?.state, "succeeded")
    assert.equal(node.isProcessing, false)
  })
}

test("the methods of a logger are called with the logger as `this`", async () => {
  await using fleet = new Fleet()
  class Lines {
    readonly messages: string[] = []
    debug(_facts: object, message: string) {
      this.messages.push(message)
    }
    info(_facts: object, message: string) {
      this.messages.push(message)
    }
    warn(_facts: object, message: string) {
      this.messages.push(message)
    }
    error(_facts: object, message: string) {
      this.messages.push(message)
    }
  }
  const logger = new Lines()

  await fleet.started({ logger })

  assert.ok(logger.messages.includes("The scheduler started"))
})
