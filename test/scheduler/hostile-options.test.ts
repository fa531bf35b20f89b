import assert from "node:assert/strict"
import { BelfryError, createScheduler, defineTask, memory, type SchedulerOptions } from "belfry"
import { createLocks, memoryLocks } from "belfry/lock"
import { createTestScheduler } from "belfry/testing"
import { describe, test } from "vitest"
import { LOCK_OPTIONS } from "../../src/lock/locks.ts"
import { SCHEDULER_OPTIONS } from "../../src/scheduler/scheduler-options.ts"
import { TASK_OPTIONS } from "../../src/task/task.ts"
import { HOSTILE, isAccepted, only, tryHostileOptions, withForeign } from "../support/hostile-options.ts"

test("with the memory store, every option value is either refused by name or stored unchanged", async () => {
  assert.ok((await tryHostileOptions(memory())) > 100)
})

describe("every option value is either refused by name or accepted by", () => {
  const each = async (name: string, table: object, call: (options: object) => unknown) => {
    for (const option of withForeign(table)) {
      for (const value of HOSTILE) await isAccepted(name, option, () => call(only(option, value)))
    }
  }

  test("createScheduler", async () => {
    await each("createScheduler", SCHEDULER_OPTIONS, (options) =>
      createScheduler({ store: memory(), ...options } as SchedulerOptions),
    )
  })

  test("defineTask, and task.schedule", async () => {
    const run = () => undefined
    await each("defineTask", TASK_OPTIONS, (options) => defineTask({ name: "t", run, ...options } as never))
    const task = defineTask({ name: "t", run })
    await each("schedule", { local: 1, in: 1, payload: 1 }, (options) =>
      task.schedule("s", { cron: "@daily", ...options } as never),
    )
  })

  test("a lock", async () => {
    const locks = createLocks(memoryLocks())
    let name = 0
    const { wait: _wait, ...table } = LOCK_OPTIONS
    await each("acquire", table, (options) =>
      locks.acquire(`lock-${name++}`, options as never).catch((error: BelfryError) => {
        // A ttl of 1 ms may end before the lock is acquired.
        if (error.code !== "BELFRY_LOCK_HELD") throw error
      }),
    )
    await each("name", {}, () => undefined)
    for (const value of HOSTILE)
      await isAccepted("tryAcquire", "name", () => locks.tryAcquire(value as never))
  })

  test("a test scheduler", async () => {
    const table = { startAt: 1, seed: 1, patience: 1, hooks: 1, concurrency: 1 }
    await each("createTestScheduler", table, async (options) => {
      await using _scheduler = await createTestScheduler(options as never)
    })
  })
})

test("an occurrence can be rescheduled to the year 9999", async () => {
  await using scheduler = createScheduler({ store: memory() })
  const { schedules } = scheduler
  await schedules.create("s", { task: "t", every: "1s" })
  const last = "9999-12-31T23:59:59.999Z"

  const [moved] = await schedules.preview("s", 1)
  await assert.rejects(schedules.move("s", moved!.scheduledFor, last), BelfryError)
  assert.equal((await schedules.reschedule("s", last)).nextRunAt?.toISOString(), last)
  assert.deepEqual(await schedules.preview("s", 1, { after: last }), [])
})
