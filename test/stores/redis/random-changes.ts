import assert from "node:assert/strict"
import type { Store } from "belfry/store"
import { DEFAULT_RETRY } from "../../../src/core/run/backoff.ts"
import {
  cancel,
  fail,
  type NewRun,
  type Run,
  type RunChange,
  release,
  retry,
  succeed,
} from "../../../src/core/run/run.ts"
import { concurrencyKeyOf } from "../../../src/core/schedule/schedule.ts"
import {
  aClaim,
  aHeartbeat,
  aPruning,
  aRun,
  aRunOf,
  aSkip,
  heldRun,
  LONG_MS,
} from "../../../src/store/laws/factories.ts"
import { aPage, countRuns, idsOf, several } from "../../../src/store/laws/steps.ts"
import { assertIndexesMatch } from "./random-changes-indexes.ts"
import { assertListsMatch } from "./random-changes-lists.ts"
import { aFreshStore } from "./scratch.ts"

const NOTHING = { message: "✓", details: null }
const NOBODY = { reason: null, by: null }
const FAILURE = { outcome: "failed", error: "Error", output: NOTHING } as const
const SCHEDULES = ["s0", "s1", "s2"]
const LEASES = ["a", "b"].map((name) => ({ name, leaseMs: 3 }))

/** 250 random steps, decided by the seed alone. The time between steps depends on the machine. */
export async function assertIndexesAfterStorm(seed: number): Promise<void> {
  const { store, client, prefix } = await aFreshStore()
  const random = randomFrom(seed)

  try {
    for (let step = 0; step < 250; step++) {
      await someStep(store, random)
      if (step % 50 !== 49) continue
      await assertIndexesMatch(client, prefix)
      await assertListsMatch(store, SCHEDULES)
    }
    await finishAll(store)
    await assertIndexesMatch(client, prefix)
    await assertListsMatch(store, SCHEDULES)
    for (const kind of ["queue", "waiting", "parked", "unfinished", "running", "live"]) {
      assert.deepEqual(await client.keys(`${prefix}:${kind}*`), [])
    }
  } catch (error) {
    throw new Error(`Indexes do not match the runs with seed ${seed}`, { cause: error })
  }
}

type Random = (below: number) => number

/** Returns the same numbers for the same seed. */
function randomFrom(seed: number): Random {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

async function someStep(store: Store, random: Random): Promise<void> {
  const kind = random(10)
  if (kind < 3) await store.enqueue(several(1 + random(4), () => someRun(random)))
  else if (kind < 6)
    await store.claim(aClaim({ tasks: LEASES, limit: 1 + random(4), workerId: `w${random(3)}` }))
  else if (kind < 9)
    await store.transition((await someRuns(store, random)).flatMap((run) => someChange(run, random)))
  else if (random(2) === 0) await store.prune(aPruning({ olderThanMs: 20, keepPerSchedule: 1, limit: 3 }))
  else
    await store.heartbeat(
      aHeartbeat({ held: (await someRuns(store, random)).map((run) => heldRun(run, { leaseMs: 3 })) }),
    )
}

function someRun(random: Random): NewRun {
  const over = {
    task: ["a", "b"][random(2)]!,
    priority: random(3) - 1,
    liveKey: random(3) === 0 ? `live-${random(5)}` : null,
    concurrencyLimit: [null, 1, 2][random(3)]!,
    concurrencyKey: random(3) === 0 ? null : `key-${random(2)}`,
    parentId: random(4) === 0 ? `parent-${random(3)}` : null,
    delayMs: random(4) === 0 ? 5 : 0,
  }
  const scheduledFor = random(2) === 0 ? null : 1_000 * random(100)
  if (random(6) === 0) return aSkip({ ...over, scheduleId: "s1", scheduledFor })
  if (random(3) === 0) return aRun(over)
  const schedule = SCHEDULES[random(3)]!
  // Half of the runs are single, as plans create them. The others have the keys of an edited schedule or a manual run.
  const key = concurrencyKeyOf(schedule)
  const keys = random(2) === 0 ? { liveKey: key, concurrencyKey: key } : {}
  return aRunOf(schedule, { ...over, scheduledFor, ...keys })
}

async function someRuns(store: Store, random: Random): Promise<readonly Run[]> {
  const runs = await store.readRuns(idsOf(await store.findRuns({}, aPage({ limit: 60 }))))
  return runs.length === 0 ? [] : several(1 + random(4), () => runs[random(runs.length)]!)
}

function someChange(run: Run, random: Random): readonly RunChange[] {
  const ends = [
    () => succeed(run, NOTHING),
    () => fail(run, { ...FAILURE, retry: "never" }, DEFAULT_RETRY, 0),
    () => fail(run, { ...FAILURE, retry: { afterMs: 4 } }, DEFAULT_RETRY, 0),
    () => release(run, "stopping"),
  ].map((end) => () => (run.state === "running" ? end() : null))
  const change = [...ends, () => cancel(run, NOBODY), () => retry(run, "ann")][random(6)]!()
  return change === null ? [] : [change]
}

/** Performs all runs, to show that no run still waits for a free key. */
async function finishAll(store: Store): Promise<void> {
  const tasks = LEASES.map(({ name }) => ({ name, leaseMs: LONG_MS }))
  for (let rounds = 0; rounds < 500; rounds++) {
    const { runs } = await store.claim(aClaim({ tasks }))
    await store.transition(runs.map((run) => succeed(run, NOTHING)))
    const { pending, running } = await countRuns(store)
    if (pending + running === 0) return
    if (runs.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.fail("some runs never finished")
}
