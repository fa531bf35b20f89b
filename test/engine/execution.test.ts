import assert from "node:assert/strict"
import { test } from "vitest"
import { Execution } from "../../src/engine/execution.ts"
import { defineTask, type TaskContext } from "../../src/index.ts"
import { systemClock } from "../../src/runtime/clock.ts"
import { aRun } from "../../src/store/laws/factories.ts"
import { running } from "../../src/store/laws/steps.ts"
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts"
import { turn } from "../support/fleet.ts"

/** One attempt with a clock whose timers never fire but are collected. */
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
    withRetries: (question) => question(),
  })
  return { execution, timers }
}

/** A number of lines that is stored at once instead of after a delay. */
const BATCH = 200

test.each([
  { behaviour: "returns", perform: () => "done" },
  {
    behaviour: "throws",
    perform: () => {
      throw new Error("no")
    },
  },
  { behaviour: "has just written a log line", perform: ({ log }: TaskContext) => log.info("a line") },
  {
    behaviour: "wrote log lines that are stored already",
    async perform({ log }: TaskContext) {
      for (let line = 0; line < BATCH; line++) log.info(`line ${line}`)
      await turn()
    },
  },
  {
    behaviour: "ends within the grace after an abort",
    async perform(_: TaskContext, execution: Execution) {
      execution.abort("timeout")
    },
  },
])(
  "a task that $behaviour leaves no timer behind, and neither does an abort after its end",
  async ({ perform }) => {
    const { execution, timers } = await anExecution(perform)

    await execution.perform()
    execution.abort("lease-lost")

    assert.deepEqual([...timers], [])
  },
)
