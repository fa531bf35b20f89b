import assert from "node:assert/strict"
import type { Store } from "belfry/store"
import { DEFAULT_RETRY } from "../../../src/core/backoff.ts"
import {
  cancel,
  fail,
  type NewRun,
  type Run,
  type RunChange,
  release,
  retry,
  succeed,
} from "../../../src/core/run.ts"
import { concurrencyKeyOf } from "../../../src/core/schedule.ts"
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
import { aFreshStore } from "./scratch.ts"
import { assertInStep } from "./storm-indexes.ts"
import { assertListed } from "./storm-lists.ts"

const NOTHING = { message: "✓", details: null }
const NOBODY = { reason: null, by: null }
const FAILURE = { outcome: "failed", error: "Error", output: NOTHING } as const
const SCHEDULES = ["s0", "s1", "s2"]
const LEASES = ["a", "b"].map((name) => ({ name, leaseMs: 3 }))

/** Two hundred and fifty steps, which the seed alone decides; how much time passes between them is the machine's business. */
export async function assertStormWeathered(seed: number): Promise<void> {
  const { store, client, prefix } = await aFreshStore()
  const chance = chanceFrom(seed)

  try {
    for (let step = 0; step < 250; step++) {
      await someStep(store, chance)
      if (step % 50 !== 49) continue
      await assertInStep(client, prefix)
      await assertListed(store, SCHEDULES)
    }
    await finishAll(store)
    await assertInStep(client, prefix)
    await assertListed(store, SCHEDULES)
    for (const kind of ["queue", "waiting", "parked", "unfinished", "running", "live"]) {
      assert.deepEqual(await client.keys(`${prefix}:${kind}*`), [])
    }
  } catch (error) {
    throw new Error(`The storm of seed ${seed} did harm`, { cause: error })
  }
}

type Chance = (below: number) => number

/** The same numbers for the same seed. */
function chanceFrom(seed: number): Chance {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

async function someStep(store: Store, chance: Chance): Promise<void> {
  const kind = chance(10)
  if (kind < 3) await store.enqueue(several(1 + chance(4), () => someRun(chance)))
  else if (kind < 6)
    await store.claim(aClaim({ tasks: LEASES, limit: 1 + chance(4), workerId: `w${chance(3)}` }))
  else if (kind < 9)
    await store.transition((await someRuns(store, chance)).flatMap((run) => someChange(run, chance)))
  else if (chance(2) === 0) await store.prune(aPruning({ olderThanMs: 20, keepPerSchedule: 1, limit: 3 }))
  else
    await store.heartbeat(
      aHeartbeat({ held: (await someRuns(store, chance)).map((run) => heldRun(run, { leaseMs: 3 })) }),
    )
}

function someRun(chance: Chance): NewRun {
  const over = {
    task: ["a", "b"][chance(2)]!,
    priority: chance(3) - 1,
    liveKey: chance(3) === 0 ? `live-${chance(5)}` : null,
    concurrencyLimit: [null, 1, 2][chance(3)]!,
    concurrencyKey: chance(3) === 0 ? null : `key-${chance(2)}`,
    parentId: chance(4) === 0 ? `parent-${chance(3)}` : null,
    delayMs: chance(4) === 0 ? 5 : 0,
  }
  const scheduledFor = chance(2) === 0 ? null : 1_000 * chance(100)
  if (chance(6) === 0) return aSkip({ ...over, scheduleId: "s1", scheduledFor })
  if (chance(3) === 0) return aRun(over)
  const schedule = SCHEDULES[chance(3)]!
  // As the timetable makes them, and as an edit or a hand may.
  const key = concurrencyKeyOf(schedule)
  const keys = chance(2) === 0 ? { liveKey: key, concurrencyKey: key } : {}
  return aRunOf(schedule, { ...over, scheduledFor, ...keys })
}

async function someRuns(store: Store, chance: Chance): Promise<readonly Run[]> {
  const runs = await store.readRuns(idsOf(await store.findRuns({}, aPage({ limit: 60 }))))
  return runs.length === 0 ? [] : several(1 + chance(4), () => runs[chance(runs.length)]!)
}

function someChange(run: Run, chance: Chance): readonly RunChange[] {
  const ends = [
    () => succeed(run, NOTHING),
    () => fail(run, { ...FAILURE, retry: "never" }, DEFAULT_RETRY, 0),
    () => fail(run, { ...FAILURE, retry: { afterMs: 4 } }, DEFAULT_RETRY, 0),
    () => release(run, "stopping"),
  ].map((end) => () => (run.state === "running" ? end() : null))
  const change = [...ends, () => cancel(run, NOBODY), () => retry(run, "ann")][chance(6)]!()
  return change === null ? [] : [change]
}

/** Everything that can run does, in the end: nothing was left waiting for a key that is free. */
async function finishAll(store: Store): Promise<void> {
  const tasks = LEASES.map(({ name }) => ({ name, leaseMs: LONG_MS }))
  for (let rounds = 0; rounds < 500; rounds++) {
    const { runs } = await store.claim(aClaim({ tasks }))
    await store.transition(runs.map((run) => succeed(run, NOTHING)))
    const { pending, running } = await countRuns(store)
    if (pending + running === 0) return
    if (runs.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.fail("all runs come to an end")
}
