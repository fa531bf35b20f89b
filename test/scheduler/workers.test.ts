import assert from "node:assert/strict"
import { test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { Fleet } from "../support/fleet.ts"

test("workers come by id, page after page, each once", async () => {
  await using fleet = new Fleet()
  const task = defineTask({ name: "task", run: () => undefined })
  for (let started = 0; started < 5; started++) await fleet.started({ tasks: [task] })
  await fleet.advance("30s")
  const observer = fleet.node()

  const all = (await observer.workers()).map(({ id }) => id)
  const first = await observer.workers({ limit: 2 })
  const second = await observer.workers({ after: first[1]!.id, limit: 2 })
  const third = await observer.workers({ after: second[1]!.id, limit: 2 })

  assert.deepEqual([all.length, all], [5, all.toSorted()])
  assert.deepEqual(
    [...first, ...second, ...third].map(({ id }) => id),
    all,
  )
})
