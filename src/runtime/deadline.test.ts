import assert from "node:assert/strict"
import { test } from "vitest"
import { never } from "../../test/support/fleet.ts"
import { createVirtualClock } from "../testing/virtual-clock.ts"
import { answerOf, withDeadline } from "./deadline.ts"

const late = () => new Error("late")

test("work that settles in time settles the promise, and its timer is cancelled", async () => {
  const clock = createVirtualClock(0)

  assert.equal(await withDeadline(clock, Promise.resolve("done"), { ms: 10, late }), "done")
  await assert.rejects(withDeadline(clock, Promise.reject(new Error("broken")), { ms: 10, late }), /broken/)
  assert.equal(clock.timeline.nextAt, null)
})

test("work that hangs is rejected at the deadline, and then onPassed is called", async () => {
  const clock = createVirtualClock(0)
  const order: string[] = []
  const answer = answerOf(clock, never, {
    where: "PostgreSQL at db:5432",
    deadlineMs: 5_000,
    remainingMs: 2_000,
    explain: () => {
      order.push("explain")
      return "The driver says: reset."
    },
    onPassed: () => void order.push("onPassed"),
  })
  const rejected = assert.rejects(answer, {
    code: "BELFRY_STORE_UNAVAILABLE",
    message: /^PostgreSQL at db:5432 did not answer within 5 s\. The driver says: reset\./,
  })

  assert.equal(clock.timeline.nextAt, 2_000)
  clock.timeline.step(2_000)

  await rejected
  assert.deepEqual(order, ["explain", "onPassed"])
})
