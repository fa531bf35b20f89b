import assert from "node:assert/strict"
import { test } from "vitest"
import { Execution } from "../../src/engine/execution.ts"
import { defineTask, type TaskContext } from "../../src/index.ts"
import { systemClock } from "../../src/runtime/clock.ts"
import { aRun } from "../../src/store/laws/factories.ts"
import { running } from "../../src/store/laws/steps.ts"
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts"
import { turn } from "../support/fleet.ts"

/** One attempt, by a clock whose timers never ring but are counted. */
async function anExecution(perform: (context: TaskContext, execution: Execution) => unknown) {
  const store = createMemoryStore(systemClock)
  await store.open()
  const timers = new Set<number>()
  const setTimer = (delayMs: number) => {
    timers.add(delayMs)
    return () => void timers.delete(delayMs)
  }
  const execution: Execution = new Execution({
    run: await running(store, aRun({ task: "task" })),
    task: defineTask({ name: "task", timeout: "1h", run: (context) => perform(context, execution) }),
    store,
    clock: { ...systemClock, setTimer },
    leaseMs: 30_000,
    onProgress: () => undefined,
    insist: (question) => question(),
  })
  return { execution, timers }
}

/** So many that they are stored at once, and not only when a moment has passed. */
const BATCH = 200

test.each([
  { what: "returns", perform: () => "done" },
  {
    what: "throws",
    perform: () => {
      throw new Error("no")
    },
  },
  { what: "has just written a line", perform: ({ log }: TaskContext) => log.info("a line") },
  {
    what: "wrote lines that are stored already",
    async perform({ log }: TaskContext) {
      for (let line = 0; line < BATCH; line++) log.info(`line ${line}`)
      await turn()
    },
  },
  {
    what: "ends in the grace that an abort leaves it",
    async perform(_: TaskContext, execution: Execution) {
      execution.abort("timeout")
    },
  },
])(
  "a task that $what leaves no timer behind, and neither does an abort that comes too late",
  async ({ perform }) => {
    const { execution, timers } = await anExecution(perform)

    await execution.perform()
    execution.abort("lease-lost")

    assert.deepEqual([...timers], [])
  },
)
