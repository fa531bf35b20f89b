import assert from "node:assert/strict"
import { test } from "vitest"
import { deletionOf } from "../../src/core/plan.ts"
import { defineTask } from "../../src/index.ts"
import { anEntry } from "../../src/store/laws/factories.ts"
import type { Hint, Store } from "../../src/store/store.ts"
import { Fleet } from "../support/fleet.ts"

/** A process that declares a paused schedule, on a store that loses it and can say so. */
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
    async say(hint: Hint) {
      for (const tell of listeners) tell(hint)
      await fleet.advance("1s")
    },
    reason: async () => (await node.schedules.get("s"))?.paused?.reason,
  }
}

test("a store that says only after several polls that it lost a schedule gets it back as it was", async () => {
  await using fleet = new Fleet()
  const { lose, say, reason } = await losingStore(fleet)

  await lose()
  await fleet.advance("10s")
  await say("forgotten")

  assert.equal(await reason(), "holiday")
})

test("a schedule that was deleted long before the loss stays deleted", async () => {
  await using fleet = new Fleet()
  const { lose, say, reason } = await losingStore(fleet)

  await lose()
  await fleet.advance("10m")
  await say("forgotten")

  assert.equal(await reason(), undefined)
})

test("a loss is mended once: what is deleted after it stays deleted", async () => {
  await using fleet = new Fleet()
  const { lose, say, reason } = await losingStore(fleet)
  await lose()
  await say("forgotten")

  await lose()
  await fleet.advance("10s")

  assert.equal(await reason(), undefined)
})
