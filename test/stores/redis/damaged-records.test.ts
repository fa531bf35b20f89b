import assert from "node:assert/strict"
import { aSchedule } from "belfry/store"
import { test } from "vitest"
import { planFire } from "../../../src/core/planning/fire.ts"
import { created, deleteSchedule, scheduleById } from "../../../src/store/laws/steps.ts"
import { damagedRecords } from "../damaged-records.ts"
import { aFreshStore } from "./scratch.ts"

damagedRecords(
  async () => {
    const { store, client, prefix } = await aFreshStore()
    return {
      store,
      async write(kind, id, part, value) {
        await client.hset(`${prefix}:${kind}s:${id}`, part, value)
      },
    }
  },
  {
    schedule: [
      ...["definition", "progress"],
      ...["definition = -1", "definition = 1e300", "definition = {}", "progress = -1", "progress = []"],
    ],
    run: [
      ...["payload", "more", "concurrency_limit", "more = 7", 'more = {"retry": 5}', "attempt = x"],
      ...["created_at = x", "scheduled_for = x"],
    ],
  },
)

test.each(["", "x", "-1", "1.5", "9007199254740993", null])(
  "a schedule with the version %j can be fired, which repairs the version, and can be deleted",
  async (damage) => {
    const { store, client, prefix } = await aFreshStore()
    const due = { nextRunAt: 1, coveredUntil: 0 }
    const [fired, deleted] = [await created(store, aSchedule(due)), await created(store, aSchedule())]
    for (const { id } of [fired, deleted]) {
      const key = `${prefix}:schedules:${id}`
      await (damage === null ? client.hdel(key, "version") : client.hset(key, "version", damage))
    }

    const read = await store.dueSchedules({ limit: 10 })
    const plans = read.due.map(({ schedule, facts }) => planFire(schedule, facts, read.now))
    const answers = await store.fire([...plans, ...plans])

    assert.deepEqual(
      answers.map(({ outcome }) => outcome),
      ["done", "stale"],
    )
    assert.ok((await scheduleById(store, fired.id)).version > fired.version)
    const answer = await deleteSchedule(store, await scheduleById(store, deleted.id))
    assert.deepEqual(answer, { outcome: "done", created: [] })
    assert.deepEqual(
      (await store.findSchedules({}, { orderBy: "id", after: null, limit: 10 })).map(({ id }) => id),
      [fired.id],
    )
  },
)
