import assert from "node:assert/strict"
import type { FirePlan, Hint, NewSchedule, Store } from "belfry/store"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { aPlan, aRun, aSchedule, aStoredSchedule } from "../../src/store/laws/factories.ts"
import { withOperations } from "../../src/store/with-operations.ts"
import { aborted, Fleet } from "../support/fleet.ts"

test("a store gets plans with the fields of the contract and no others", async () => {
  await using fleet = new Fleet()
  const { store, plans } = capturing(fleet.store)
  const slow = defineTask({ name: "slow", run: ({ signal }) => aborted(signal) })
  const schedules = [slow.schedule("replacing", { cron: "* * * * *", overlap: "replace" })]
  const node = await fleet.started({ store, tasks: [slow], schedules })

  await fleet.advance("3m")
  await node.schedules.pause("replacing", { reason: "quiet" })
  await node.schedules.resume("replacing")
  await node.schedules.skip("replacing")
  await node.schedules.delete("replacing")

  const replaced = (await fleet.runs()).filter(({ state }) => state === "cancelled")
  assert.ok(replaced.length >= 2, "runs were replaced")
  assert.ok(plans.length >= 7, `${plans.length} plans`)
  for (const plan of plans) {
    assertFields(plan, aPlan(aStoredSchedule()), ["entry"])
    if (plan.progress !== null) assertFields(plan.progress, aPlan(aStoredSchedule()).progress!)
    for (const run of plan.runs) assertFields(run, aRun())
  }
})

test("a store gets schedules with the fields of the contract and no others", async () => {
  await using fleet = new Fleet()
  const { store, puts, send } = capturing(fleet.store)
  const task = defineTask({ name: "task", run: () => undefined })
  const declared = { tasks: [task], schedules: [task.schedule("declared", { cron: "* * * * *" })] }
  await fleet.started({ store, ...declared, release: 1 })
  await fleet.advance("3m")

  const { schedules } = await fleet.started({ store, ...declared, release: 2 })
  await schedules.create("own", { task, cron: "0 7 * * *", paused: { reason: "holiday" } })
  await schedules.create("now", { task, cron: "0 7 * * *", startImmediately: true })
  await schedules.update("own", { cron: "0 8 * * *" }, { ifRevision: 1 })
  await schedules.put("own", { task, cron: "0 9 * * *" })
  await send("forgotten")
  await fleet.advance("1m")

  const changes = puts.map(({ schedule, ifVersion }) => [schedule.id, ifVersion === null ? "new" : "changed"])
  assert.deepEqual(changes, [
    ["declared", "new"],
    ["declared", "changed"],
    ["own", "new"],
    ["now", "new"],
    ["own", "changed"],
    ["own", "changed"],
    // By both processes, to restore it.
    ["declared", "new"],
    ["declared", "new"],
  ])
  for (const { schedule } of puts) assertFields(schedule, aSchedule())
})

function assertFields(record: object, like: object, optional: readonly string[] = []): void {
  const given = Object.keys(record).filter((field) => !optional.includes(field))
  assert.deepEqual(given.sort(), Object.keys(like).sort())
}

interface Capturing {
  readonly store: Store
  readonly plans: readonly FirePlan[]
  readonly puts: readonly { readonly schedule: NewSchedule; readonly ifVersion: number | null }[]
  /** Sends a hint to all processes on the store. */
  send(hint: Hint): void
}

function capturing(store: Store): Capturing {
  const plans: FirePlan[] = []
  const puts: { schedule: NewSchedule; ifVersion: number | null }[] = []
  const listeners: ((hint: Hint) => void)[] = []
  const operations: Partial<Store> = {
    fire(given) {
      plans.push(...given)
      return store.fire(given)
    },
    putSchedule(schedule, ifVersion, entry) {
      puts.push({ schedule, ifVersion })
      return store.putSchedule(schedule, ifVersion, entry)
    },
    listen(onHint) {
      listeners.push(onHint)
      return store.listen(onHint)
    },
  }
  const send = (hint: Hint) => {
    for (const onHint of listeners) onHint(hint)
  }
  return { store: withOperations(store, operations), plans, puts, send }
}
