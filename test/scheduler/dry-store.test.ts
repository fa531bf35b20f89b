import assert from "node:assert/strict"
import { BelfryError, createScheduler, defineTask, type Scheduler, silentLogger } from "belfry"
import { createVirtualClock } from "belfry/testing"
import fc from "fast-check"
import { test } from "vitest"
import { dryStore } from "../../src/scheduler/dry-store.ts"
import type { Store } from "../../src/store/store.ts"
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts"
import { SEED } from "../support/properties.ts"

const START = Date.UTC(2026, 5, 1)
const HOUR = 3_600_000

type Step = (scheduler: Scheduler) => Promise<unknown>

/** Each step is refused in some states of the store and accepted in others. */
const STEPS: Readonly<Record<string, Step>> = {
  create: ({ schedules }) => schedules.create("made", { task: "t", every: "1h" }),
  createTaken: ({ schedules }) => schedules.create("hourly", { task: "t", every: "1h" }),
  createDependent: ({ schedules }) =>
    schedules.create("dependent", {
      ...{ task: "t", every: "1h", dependsOn: [{ schedule: "made", within: "1h" }] },
    }),
  update: async ({ schedules }) => {
    const revision = (await schedules.get("hourly"))?.revision ?? 1
    return schedules.update("hourly", { every: "2h" }, { ifRevision: revision })
  },
  updateOld: ({ schedules }) => schedules.update("hourly", { every: "3h" }, { ifRevision: 1 }),
  pause: ({ schedules }) => schedules.pause("hourly"),
  pauseUntilNow: ({ schedules }) => schedules.pause("hourly", { until: START }),
  resume: ({ schedules }) => schedules.resume("hourly"),
  skip: ({ schedules }) => schedules.skip("hourly"),
  skipNone: ({ schedules }) => schedules.skip("hourly", START + 90 * 60_000),
  move: ({ schedules }) => schedules.move("hourly", START + 3 * HOUR, START + 3.5 * HOUR),
  reschedule: ({ schedules }) => schedules.reschedule("hourly", START + 5 * HOUR),
  trigger: ({ schedules }) => schedules.trigger("hourly"),
  triggerInstead: ({ schedules }) => schedules.trigger("hourly", { insteadOfNext: true }),
  replace: ({ schedules }) => schedules.trigger("hourly", { overlap: "replace" }),
  delete: ({ schedules }) => schedules.delete("hourly"),
  enqueue: (scheduler) => scheduler.enqueue("t", { id: "one" }),
  enqueueKeyed: (scheduler) => scheduler.enqueue("t", { key: "k" }),
  enqueueTwo: (scheduler) => scheduler.enqueue("t", { key: "k", id: "two" }),
  cancelTwo: ({ runs }) => runs.cancel("two"),
  retryTwo: ({ runs }) => runs.retry("two"),
  cancel: ({ runs }) => runs.cancel("one"),
  retry: ({ runs }) => runs.retry("one"),
  release: ({ runs }) => runs.release("one"),
}

const steps = fc.array(fc.constantFrom(...Object.keys(STEPS)), { minLength: 0, maxLength: 5 })

test("a dry store answers like the real store, and stores nothing", async () => {
  const property = fc.asyncProperty(steps, steps, async (before, tried) => {
    const [real, dry] = [await aStore(before), await aStore(before)]
    const stored = await contentsOf(dry)

    const expected = await outcomesOf(real, tried)
    const answered = await outcomesOf(dryStore(dry), tried)

    assert.deepEqual(answered, expected)
    assert.deepEqual(await contentsOf(dry), stored)
  })
  await fc.assert(property, { seed: SEED, numRuns: 300 })
})

test.each([
  ["was created before", ["enqueueTwo", "cancelTwo", "enqueueKeyed"], ["retryTwo"]],
  ["was created by the same dry run", ["enqueueTwo", "cancelTwo"], ["enqueueKeyed", "retryTwo"]],
])("a run can't be retried while another run that %s has its key", async (_when, before, tried) => {
  const answered = await outcomesOf(dryStore(await aStore(before)), tried)

  assert.equal(answered.at(-1), "retryTwo: BELFRY_RUN_HELD")
})

test.each(["dueSchedules", "claim", "heartbeat", "prune", "appendLogs"] as const)(
  "a dry store refuses %s",
  async (operation) => {
    const store = dryStore(await aStore([]))

    await assert.rejects(
      async () => store[operation]({} as never),
      /neither fires schedules nor performs runs/,
    )
  },
)

/** A store 90 minutes after its hourly schedule was created, so that one occurrence is owed, and after these steps. */
async function aStore(before: readonly string[]): Promise<Store> {
  const clock = createVirtualClock(START)
  const store = createMemoryStore(clock)
  const scheduler = createScheduler({ store, clock, logger: silentLogger })
  await scheduler.schedules.create("hourly", { task: "t", every: "1h" })
  clock.timeline.jumpTo(START + 1.5 * HOUR)
  await outcomesOf(store, before)
  return store
}

async function outcomesOf(store: Store, tried: readonly string[]): Promise<readonly string[]> {
  const clock = createVirtualClock(START)
  const tasks = [defineTask({ name: "t", run: () => undefined })]
  const scheduler = createScheduler({ store, clock, tasks, logger: silentLogger })
  const outcomes: string[] = []
  for (const name of tried) {
    try {
      const answer = (await STEPS[name]!(scheduler)) as { outcome?: string; state?: string } | boolean
      const outcome = typeof answer === "object" ? (answer.outcome ?? answer.state ?? "done") : answer
      outcomes.push(`${name}: ${outcome}`)
    } catch (error) {
      assert.ok(error instanceof BelfryError, String(error))
      outcomes.push(`${name}: ${error.code}`)
    }
  }
  return outcomes
}

async function contentsOf(store: Store): Promise<unknown> {
  const runs = await store.findRuns({}, { orderBy: "createdAt", after: null, limit: 1_000 })
  return [await store.findSchedules({}, { orderBy: "id", after: null, limit: 1_000 }), runs]
}
