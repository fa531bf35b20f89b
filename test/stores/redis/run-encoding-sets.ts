import assert from "node:assert/strict"
import { isFinished, type Run } from "../../../src/core/run/run.ts"
import { RUN_STATES } from "../../../src/core/run/run-states.ts"
import type { Instant } from "../../../src/core/time/instant.ts"
import { isSingleRun, type Keys, textsOf } from "./run-encoding-hash.ts"

/**
 * Asserts that the run is in the sets that the comment on `RunFields` names, and in no other set of its kinds. `runs` are all
 * runs of its concurrency key.
 */
export async function assertSets({ client, prefix }: Keys, run: Run, runs: readonly Run[]): Promise<void> {
  const { id, task, priority, concurrencyKey: key, concurrencyLimit: limit } = run
  const waiting = `waiting:${limit}:${priority}:${Buffer.byteLength(task)}:${task}:${key}`
  const isWaiting = (await client.zscore(`${prefix}:${waiting}`, id)) !== null
  const expected: Record<string, Instant | null> = {
    ...listsOf(run),
    [`queue:${priority}:${task}`]: isWaiting ? null : run.claimableAt,
    [waiting]: isWaiting ? run.claimableAt : null,
  }
  const names = Object.keys(expected)
  const scores = await Promise.all(names.map((name) => client.zscore(`${prefix}:${name}`, id)))
  const found = recordOf(names, (index) => (scores[index] == null ? null : Number(scores[index])))
  assert.deepEqual(found, expected, `the sets of ${id}`)

  if (!isWaiting) return
  const running = runs.filter((each) => each.concurrencyKey === key && each.state === "running")
  assert.ok(run.state === "pending" && running.length >= limit!, `${id} waits only while its key is full`)
  const places = await client.smembers(`${prefix}:parked:${key}`)
  assert.ok(
    places.includes(`${limit}:${priority}:${task}`),
    `the place where ${id} waits is found by its key`,
  )
  assert.equal(
    await client.sismember(`${prefix}:parked`, key!),
    1,
    `${key} is among the keys with waiting runs`,
  )
}

/** The run's score in every list that could contain it. Null: it must not be in the list. */
function listsOf(run: Run): Record<string, Instant | null> {
  const { task, state, scheduleId, concurrencyKey, createdAt, scheduledFor, completedAt, triggeredBy } = run
  const isUnfinished = !isFinished(state)
  const isInSchedule = scheduleId !== null && !(isUnfinished && isSingleRun(run))
  const isByKey = isUnfinished && concurrencyKey !== null && !isSingleRun(run)
  const createdIf = (isListed: boolean) => (isListed ? createdAt : null)
  return {
    "run-ids": 0,
    "history:created": createdAt,
    [`history:task:${task}`]: createdAt,
    "history:scheduled": scheduledFor,
    [`children:${run.parentId}`]: createdIf(run.parentId !== null),
    "history:triggered-by:schedule": null,
    "history:triggered-by:api": null,
    "history:triggered-by:catchup": createdIf(triggeredBy === "catchup"),
    "history:triggered-by:manual": createdIf(triggeredBy === "manual"),
    "history:triggered-by:backfill": createdIf(triggeredBy === "backfill"),
    unfinished: createdIf(isUnfinished),
    "running-runs": createdIf(state === "running"),
    [`unfinished:${concurrencyKey}`]: createdIf(isByKey),
    "history:completed": completedAt,
    "history:succeeded": null,
    "history:failed": createdIf(state === "failed"),
    "history:cancelled": createdIf(state === "cancelled"),
    "history:skipped": createdIf(state === "skipped"),
    [`history:created:${scheduleId}`]: createdIf(isInSchedule),
    [`history:scheduled:${scheduleId}`]: isInSchedule ? scheduledFor : null,
    [`history:completed:${scheduleId}`]: isInSchedule ? completedAt : null,
  }
}

/**
 * Asserts that the hashes `:live`, `:running` and `:counts` agree with these runs, which are all runs of their keys, tasks and
 * schedules.
 */
export async function assertSharedHashes(keys: Keys, runs: readonly Run[]): Promise<void> {
  const counted = (wanted: (run: Run) => boolean) => runs.filter(wanted).length || null
  const [live, running, counts]: Record<string, string | number | null>[] = [{}, {}, {}]
  for (const { liveKey, concurrencyKey, task, scheduleId } of runs) {
    const holder = runs.find((run) => run.liveKey === liveKey && !isFinished(run.state))
    if (liveKey !== null) live![liveKey] = holder?.id ?? null
    if (concurrencyKey !== null)
      running![concurrencyKey] = counted(
        (run) => run.concurrencyKey === concurrencyKey && run.state === "running",
      )
    for (const state of RUN_STATES) {
      const own = (run: Run) => run.state === state && (isFinished(state) || !isSingleRun(run))
      counts![`${state}:task:${task}`] = counted((run) => run.task === task && run.state === state)
      if (scheduleId !== null)
        counts![`${state}:schedule:${scheduleId}`] = counted(
          (run) => run.scheduleId === scheduleId && own(run),
        )
    }
  }
  await assertFields(keys, "live", live!)
  await assertFields(keys, "running", running!)
  await assertFields(keys, "counts", counts!)
}

/** A field whose value is null must be absent. */
async function assertFields(
  { client, prefix }: Keys,
  hash: string,
  expected: Record<string, string | number | null>,
): Promise<void> {
  const names = Object.keys(expected)
  if (names.length === 0) return
  const values = await client.hmget(`${prefix}:${hash}`, ...names)
  const found = recordOf(names, (index) => values[index] ?? null)
  assert.deepEqual(textsOf(found), textsOf(expected), `the hash ${hash}`)
}

function recordOf<Value>(names: readonly string[], valueAt: (index: number) => Value): Record<string, Value> {
  return Object.fromEntries(names.map((name, index) => [name, valueAt(index)]))
}
