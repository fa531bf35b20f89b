import assert from "node:assert/strict"
import type { FirePlan, Store } from "belfry/store"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { aPlan, aRun, aSchedule } from "../../src/store/laws/factories.ts"
import { withOperations } from "../../src/store/with-operations.ts"
import { aborted, Fleet } from "../support/fleet.ts"

test("a store gets plans with the fields of the contract and no others", async () => {
  await using fleet = new Fleet()
  const { store, plans } = capturing(fleet.store)
  const slow = defineTask({ name: "slow", run: ({ signal }) => aborted(signal) })
  const schedules = [slow.schedule("replacing", { cron: "* * * * *", overlap: "replace" })]
  const { schedules: stored } = await fleet.started({ store, tasks: [slow], schedules })

  await fleet.advance("3m")
  await fleet.until(stored.pause("replacing", { reason: "quiet" }))
  await fleet.until(stored.resume("replacing"))
  await fleet.until(stored.skip("replacing"))
  await fleet.until(stored.delete("replacing"))

  const replaced = (await fleet.runs()).filter(({ state }) => state === "cancelled")
  assert.ok(replaced.length >= 2, "runs were replaced")
  assert.ok(plans.length >= 7, `${plans.length} plans`)
  for (const plan of plans) {
    assertFields(plan, PLAN, ["entry"])
    if (plan.progress !== null) assertFields(plan.progress, PROGRESS)
    for (const run of plan.runs) assertFields(run, RUN)
  }
})

const PLAN = Object.keys(aPlan({ ...aSchedule(), version: 1 }))
const PROGRESS = Object.keys(aPlan({ ...aSchedule(), version: 1 }).progress!)
const RUN = Object.keys(aRun())

function assertFields(
  record: FirePlan | object,
  fields: readonly string[],
  optional: readonly string[] = [],
) {
  const given = Object.keys(record).filter((field) => !optional.includes(field))
  assert.deepEqual(given.sort(), fields.toSorted())
}

function capturing(store: Store): { store: Store; plans: readonly FirePlan[] } {
  const plans: FirePlan[] = []
  const fire: Store["fire"] = (given) => {
    plans.push(...given)
    return store.fire(given)
  }
  return { store: withOperations(store, { fire }), plans }
}
