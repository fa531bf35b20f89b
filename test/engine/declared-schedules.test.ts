import assert from "node:assert/strict"
import { test } from "vitest"
import { deletionOf } from "../../src/core/planning/plan.ts"
import { defineTask } from "../../src/index.ts"
import { anEntry } from "../../src/store/laws/factories.ts"
import type { Hint, Store } from "../../src/store/store.ts"
import { Fleet } from "../support/fleet.ts"

/** A process that declares a schedule and pauses it, on a store that can lose the schedule and send hints. */
async function losingStore(fleet: Fleet) {
  const listeners: ((hint: Hint) => void)[] = []
  const store: Store = {
    ...fleet.store,
    listen(onHint) {
      listeners.push(onHint)
      return fleet.store.listen(onHint)
    },
  }
  const task = defineTask({ name: "task", run: () => undefined })
  const schedules = [task.schedule("s", { cron: "0 * * * *" })]
  const node = await fleet.started({ store, tasks: [task], schedules, pollInterval: "1s" })
  await node.schedules.pause("s", { reason: "holiday" })
  await fleet.advance("2s")
  return {
    async lose() {
      const [stored] = await fleet.store.findSchedules({}, { orderBy: "id", after: null, limit: 1 })
      await fleet.store.fire([deletionOf(stored!, anEntry())])
    },
    async send(hint: Hint) {
      for (const onHint of listeners) onHint(hint)
      await fleet.advance("1s")
    },
    reason: async () => (await node.schedules.get("s"))?.paused?.reason,
  }
}

test("a lost schedule is restored with its pause, even if the hint of the loss comes several polls later", async () => {
  await using fleet = new Fleet()
  const { lose, send, reason } = await losingStore(fleet)

  await lose()
  await fleet.advance("10s")
  await send("forgotten")

  assert.equal(await reason(), "holiday")
})

test("a schedule that was deleted long before the loss stays deleted", async () => {
  await using fleet = new Fleet()
  const { lose, send, reason } = await losingStore(fleet)

  await lose()
  await fleet.advance("10m")
  await send("forgotten")

  assert.equal(await reason(), undefined)
})

test("a lost schedule is restored once, and stays deleted if it is deleted after that", async () => {
  await using fleet = new Fleet()
  const { lose, send, reason } = await losingStore(fleet)
  await lose()
  await send("forgotten")

  await lose()
  await fleet.advance("10s")

  assert.equal(await reason(), undefined)
})
