import assert from "node:assert/strict"
import { test } from "vitest"
import { type Clock, systemClock } from "../../../src/runtime/clock.ts"
import { aSchedule } from "../../../src/store/laws/factories.ts"
import { created } from "../../../src/store/laws/steps.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { anOpenStore, aPsql, until } from "./scratch.ts"

/** A CLI command makes a change and then closes the store. */
test("hints of the last changes are sent before the store closes, and no timer is left", async () => {
  const url = await migratedDatabase()
  const received: string[] = []
  const listener = await aPsql(url)
  listener.on("notification", ({ payload }) => received.push(payload!))
  await listener.query("listen belfry")
  const { waiting, timers } = aCountingClock()
  const store = await anOpenStore(url, { clock: waiting })

  await created(store, aSchedule())
  await created(store, aSchedule())
  await store.close()

  assert.equal(timers.size, 0)
  await until(() => received.length === 2, "the hints of both changes arrive")
})

function aCountingClock(): { waiting: Clock; timers: ReadonlySet<object> } {
  const timers = new Set<object>()
  const waiting: Clock = {
    ...systemClock,
    setTimer(delayMs, callback) {
      const timer = {}
      timers.add(timer)
      const stop = systemClock.setTimer(delayMs, () => {
        timers.delete(timer)
        callback()
      })
      return () => {
        timers.delete(timer)
        stop()
      }
    },
  }
  return { waiting, timers }
}
