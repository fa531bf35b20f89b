import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { createTestScheduler } from "../../src/testing.ts"

test("the events of a run are reported in order: created, started, succeeded", async () => {
  const types: string[] = []
  const task = defineTask({ name: "task", run: () => undefined })
  const hooks = { run: ({ type }: { type: string }) => void types.push(type) }
  await using test = await createTestScheduler({
    tasks: [task],
    hooks,
    schedules: [
      task.schedule("stored", { cron: "0 * * * *" }),
      task.schedule("local", { cron: "30 * * * *", local: true }),
    ],
  })

  await test.advance("1h")

  assert.deepEqual(types, ["created", "started", "succeeded", "created", "started", "succeeded"])
})

test("virtual time waits for a scheduled task that does real work", async () => {
  const task = defineTask({ name: "task", timeout: "1m", run: () => sleep(20) })
  await using test = await createTestScheduler({
    tasks: [task],
    schedules: [task.schedule("hourly", { cron: "0 * * * *" })],
    patience: "10m",
  })

  await test.advance("10h")

  assert.deepEqual(
    (await test.runs()).map(({ state, attempt }) => [state, attempt]),
    Array(10).fill(["succeeded", 1]),
  )
})
