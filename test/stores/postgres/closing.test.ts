import assert from "node:assert/strict"
import { test } from "vitest"
import { type Clock, systemClock } from "../../../src/runtime/clock.ts"
import { aSchedule } from "../../../src/store/laws/factories.ts"
import { created } from "../../../src/store/laws/steps.ts"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { anOpenStore, aPsql, until } from "./scratch.ts"

/** As a command does: one change, and the end. */
test("what was changed last is told to others before the store closes, and no timer is left", async () => {
  const url = await migratedDatabase()
  const heard: string[] = []
  const listener = await aPsql(url)
  listener.on("notification", ({ payload }) => heard.push(payload!))
  await listener.query("listen belfry")
  const { waiting, timers } = counted()
  const store = await anOpenStore(url, { clock: waiting })

  await created(store, aSchedule())
  await created(store, aSchedule())
  await store.close()

  assert.equal(timers.size, 0)
  await until(() => heard.length === 2, "both changes are told")
})

function counted(): { waiting: Clock; timers: ReadonlySet<object> } {
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
