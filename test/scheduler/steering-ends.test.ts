import assert from "node:assert/strict"
import { test } from "vitest"
import type { Store } from "../../src/store.ts"
import { Fleet } from "../support/fleet.ts"

/** Steps on a schedule that finishes, and on a store that refuses. */

const ONCE = { task: "send", at: "2026-01-01T01:00:00Z", removeWhenFinished: true } as const

test("resume returns a schedule as finished if it finished during the pause and was removed", async () => {
  await using fleet = new Fleet()
  const { schedules } = fleet.node()
  await schedules.create("once", ONCE)
  await schedules.pause("once", { by: "ada" })
  await fleet.advance("2h")

  const { paused, nextRunAt, finishedAt } = await schedules.resume("once")

  assert.deepEqual([paused, nextRunAt, finishedAt?.toISOString()], [null, null, "2026-01-01T02:00:00.000Z"])
  assert.equal(await schedules.get("once"), null)
})

test.each([
  ["paused", (node: ReturnType<Fleet["node"]>) => node.schedules.pause("once")],
  [
    "rescheduled",
    (node: ReturnType<Fleet["node"]>) => node.schedules.reschedule("once", "2026-01-02T00:00:00Z"),
  ],
] as const)("a schedule that is removed after its owed last occurrence can't be %s", async (_, step) => {
  await using fleet = new Fleet()
  const node = fleet.node()
  await node.schedules.create("once", ONCE)
  await fleet.advance("2h")

  await assert.rejects(step(node), { code: "BELFRY_SCHEDULE_NOT_FOUND" })

  assert.deepEqual(
    (await fleet.runs()).map(({ id, triggeredBy }) => [id, triggeredBy]),
    [["once@2026-01-01T01:00:00Z", "catchup"]],
  )
})

test("if the store refuses the plan for an edit by SQL, a step on the schedule throws its reason", async () => {
  await using fleet = new Fleet()
  await fleet.node().schedules.create("s", { task: "send", cron: "0 * * * *" })
  const store = withEdit(fleet.store, () => ({ outcome: "unstorable", why: "the payload is too large" }))

  await assert.rejects(fleet.node({ store }).schedules.skip("s"), {
    code: "BELFRY_STORE_REFUSED",
    message: /the payload is too large/,
  })
})

/** A store with a pause written by SQL on every schedule, and the given answer to each plan. */
function withEdit(store: Store, answer: () => object): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === "fire") return async () => [answer()]
      if (name !== "findSchedules") return Reflect.get(target, name)
      return async (...given: Parameters<Store["findSchedules"]>) => {
        const found = await target.findSchedules(...given)
        return found.map((schedule) => ({
          ...schedule,
          paused: { at: schedule.createdAt, until: null, reason: null, by: null },
          edits: [{ at: schedule.createdAt, by: "somebody", was: schedule }],
        }))
      }
    },
  })
}
