import assert from "node:assert/strict"
import type { Redis } from "ioredis"
import { concurrencyKeyOf } from "../../../src/core/schedule/schedule.ts"

/**
 * Computes all indexes from the hashes of the runs, and compares them with the stored ones. A run that is missing from its queue
 * is never performed; a surplus member of a set stays there forever.
 */
export async function assertIndexesMatch(client: Redis, prefix: string): Promise<void> {
  const expected = new Map<string, Map<string, number | null>>()
  const put = (set: string, member: string, score: number | null) => {
    const members = expected.get(set) ?? new Map<string, number | null>()
    expected.set(set, members.set(member, score))
  }
  const counts = new Map<string, number>()
  const count = (field: string) => counts.set(field, (counts.get(field) ?? 0) + 1)
  const live = new Map<string, string>()
  const running = new Map<string, number>()

  for (const key of await client.keys(`${prefix}:runs:*`)) {
    const id = key.slice(`${prefix}:runs:`.length)
    const run = await client.hgetall(key)
    const state = run["state"]!
    const schedule = run["schedule_id"]
    const createdAt = Date.parse(run["created_at"]!)
    const isUnfinished = state === "pending" || state === "running"
    // An unfinished single run is found only by its live key. Its schedule's indexes contain it after its end.
    const singleKey = run["single"] === undefined ? undefined : concurrencyKeyOf(schedule!)
    const isInSchedule = schedule !== undefined && !(isUnfinished && singleKey !== undefined)
    for (const name of ["all", `task:${run["task"]}`, ...(isInSchedule ? [`schedule:${schedule}`] : [])]) {
      count(`${state}:${name}`)
    }
    put("run-ids", id, 0)
    put("history:created", id, createdAt)
    put(`history:task:${run["task"]}`, id, createdAt)
    if (run["parent_id"] !== undefined) put(`children:${run["parent_id"]}`, id, createdAt)
    if (isInSchedule) put(`history:created:${schedule}`, id, createdAt)
    if (run["scheduled_for"] !== undefined) {
      put("history:scheduled", id, Date.parse(run["scheduled_for"]))
      if (isInSchedule) put(`history:scheduled:${schedule}`, id, Date.parse(run["scheduled_for"]))
    }
    if (isUnfinished) {
      put("unfinished", id, createdAt)
      if (state === "running") put("running-runs", id, createdAt)
      const liveKey = singleKey ?? run["live_key"]
      const concurrencyKey = singleKey ?? run["concurrency_key"]
      if (liveKey !== undefined) live.set(liveKey, id)
      if (concurrencyKey !== undefined && singleKey === undefined) {
        put(`unfinished:${concurrencyKey}`, id, createdAt)
      }
      if (concurrencyKey !== undefined && state === "running") {
        running.set(concurrencyKey, (running.get(concurrencyKey) ?? 0) + 1)
      }
      put(await queueOf(client, prefix, id, { ...run, concurrency_key: concurrencyKey ?? "" }), id, null)
    } else {
      put("history:completed", id, Date.parse(run["completed_at"]!))
      if (schedule) put(`history:completed:${schedule}`, id, Date.parse(run["completed_at"]!))
      if (state !== "succeeded") put(`history:${state}`, id, createdAt)
    }
  }

  assert.deepEqual(await setsOf(client, prefix), plain(expected))
  assert.deepEqual(await client.hgetall(`${prefix}:counts`), textsOf(counts))
  assert.deepEqual(await client.hgetall(`${prefix}:live`), Object.fromEntries(live))
  assert.deepEqual(await client.hgetall(`${prefix}:running`), textsOf(running))
}

/**
 * A pending run is in its queue or among the waiting runs of its key. The comparison of all sets checks that it is in one only.
 */
async function queueOf(
  client: Redis,
  prefix: string,
  id: string,
  run: Record<string, string>,
): Promise<string> {
  const { task = "", priority = "0", concurrency_limit: limit, concurrency_key: key } = run
  const waiting = `waiting:${limit}:${priority}:${Buffer.byteLength(task)}:${task}:${key}`
  const isWaiting = run["state"] === "pending" && (await client.zscore(`${prefix}:${waiting}`, id)) !== null
  return isWaiting ? waiting : `queue:${priority}:${task}`
}

async function setsOf(client: Redis, prefix: string): Promise<object> {
  const found = new Map<string, Map<string, number | null>>()
  for (const kind of [
    "run-ids",
    "history:*",
    "children:*",
    "running-runs",
    "unfinished*",
    "queue:*",
    "waiting:*",
  ]) {
    for (const key of await client.keys(`${prefix}:${kind}`)) {
      const name = key.slice(prefix.length + 1)
      const list = await client.zrange(key, "0", "-1", "WITHSCORES")
      const members = new Map<string, number | null>()
      for (let index = 0; index < list.length; index += 2) {
        const isQueue = name.startsWith("queue:") || name.startsWith("waiting:")
        members.set(list[index]!, isQueue ? null : Number(list[index + 1]))
      }
      found.set(name, members)
    }
  }
  return plain(found)
}

function plain(sets: ReadonlyMap<string, ReadonlyMap<string, number | null>>): object {
  return Object.fromEntries([...sets].map(([name, members]) => [name, Object.fromEntries(members)]))
}

function textsOf(numbers: ReadonlyMap<string, number>): object {
  return Object.fromEntries([...numbers].map(([name, value]) => [name, String(value)]))
}
