import assert from "node:assert/strict"
import { test } from "vitest"
import type { Client } from "../../scheduler/client.ts"
import { listing } from "../../scheduler/listing.ts"
import type { ScheduleQuery } from "../../scheduler/schedules/steering-options.ts"
import { allSchedules } from "./lookups.ts"

/** A scheduler with that many schedules. The views have only an id. */
function schedulerOf(count: number): Client {
  const ids = Array.from({ length: count }, (_, index) => String(index).padStart(9, "0"))
  const list = ({ limit }: ScheduleQuery) =>
    listing({
      name: "ids",
      limit: limit!,
      first: null,
      read: async (after: string | null, size) => {
        const start = after === null ? 0 : Number(after) + 1
        return ids.slice(start, start + size)
      },
      placeOf: (id) => id,
      show: (id) => ({ id }),
    })
  return { schedules: { list } } as unknown as Client
}

test("allSchedules reads all schedules, also more than 100,000", async () => {
  const all = await allSchedules(schedulerOf(100_501))

  assert.equal(all.length, 100_501)
  assert.equal(new Set(all.map(({ id }) => id)).size, 100_501)
})

test.each([0, 1, 499, 500, 501, 1_000])(
  "allSchedules with a limit reads %i of 1,000 schedules",
  async (limit) => {
    assert.equal((await allSchedules(schedulerOf(1_000), {}, limit)).length, limit)
  },
)
