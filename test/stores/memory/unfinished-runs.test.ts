import fc from "fast-check"
import { assert, test } from "vitest"
import type { Run } from "../../../src/core/run/run.ts"
import { UnfinishedRuns } from "../../../src/stores/memory/unfinished-runs.ts"
import { assertProperty } from "../../support/properties.ts"

function aRun(fields: Partial<Run>): Run {
  return {
    task: "send",
    createdAt: 0,
    priority: 0,
    state: "pending",
    claimableAt: 0,
    liveKey: null,
    concurrencyKey: null,
    concurrencyLimit: null,
    ...fields,
  } as Run
}

const change = fc.record({
  id: fc.constantFrom("a", "b", "c", "d", "e", "f"),
  task: fc.constantFrom("send", "fetch", "other"),
  createdAt: fc.integer({ min: 0, max: 3 }),
  isEnd: fc.boolean(),
  priority: fc.constantFrom(-1, 0, 5),
  claimableAt: fc.integer({ min: 0, max: 8 }),
  state: fc.constantFrom("pending" as const, "running" as const),
  concurrencyKey: fc.constantFrom(null, "k", "l"),
  concurrencyLimit: fc.constantFrom(null, 1, 2),
})

const NOW = 4
const TASKS = ["send", "fetch"]

test("the indexes give the same answers as a scan of all runs, after any puts and removals", () => {
  assertProperty(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const unfinished = new UnfinishedRuns()
      const all = new Map<string, Run>()
      for (const { isEnd, ...fields } of changes) {
        const run = aRun({ ...fields, liveKey: `live ${fields.id}` })
        if (isEnd) unfinished.remove(run.id)
        else unfinished.put(run)
        if (isEnd) all.delete(run.id)
        else all.set(run.id, run)
      }

      const runs = [...all.values()]
      const running = (key: string | null) =>
        runs.filter((run) => run.concurrencyKey === key && run.state === "running")
      const due = runs
        .filter((run) => TASKS.includes(run.task) && run.claimableAt! <= NOW)
        .filter(({ id, concurrencyKey, concurrencyLimit }) => {
          const others = running(concurrencyKey).filter((run) => run.id !== id)
          return concurrencyKey === null || concurrencyLimit === null || others.length < concurrencyLimit
        })
        .sort((a, b) => b.priority - a.priority || a.claimableAt! - b.claimableAt!)
      const later = runs
        .filter((run) => TASKS.includes(run.task) && run.claimableAt! > NOW)
        .map((run) => run.claimableAt!)
      assert.deepEqual([...unfinished.claimable(NOW, TASKS)], due)
      assert.equal(
        unfinished.nextClaimableAt(NOW, TASKS, () => true),
        later.length === 0 ? null : Math.min(...later),
      )
      for (const id of "abcdef") assert.equal(unfinished.holderOf(`live ${id}`), all.get(id))
      for (const key of ["k", "l"])
        assert.deepEqual(
          unfinished.withConcurrencyKey(key, 3),
          runs
            .filter((run) => run.concurrencyKey === key)
            .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
            .slice(0, 3),
        )
    }),
    { numRuns: 1_000 },
  )
})

test("a run that is put while the due runs are read isn't given twice, and counts for its key", () => {
  const unfinished = new UnfinishedRuns()
  const ofKey = { concurrencyKey: "k", concurrencyLimit: 1 }
  for (const id of ["a", "b"]) unfinished.put(aRun({ id, ...ofKey }))
  unfinished.put(aRun({ id: "c" }))

  const given: string[] = []
  for (const run of unfinished.claimable(NOW, TASKS)) {
    given.push(run.id)
    unfinished.put({ ...run, state: "running", claimableAt: 0 })
  }
  assert.deepEqual(given, ["a", "c"])
})

test("only the runs that decide the answer are read, of thousands of pending runs", () => {
  const unfinished = new UnfinishedRuns()
  let reads = 0
  for (let number = 0; number < 2_000; number++) {
    const run = aRun({ id: `${number}`, claimableAt: number })
    Object.defineProperty(run, "payload", { get: () => reads++ })
    unfinished.put(run)
    unfinished.put(aRun({ id: `other ${number}`, task: "other", claimableAt: number }))
  }

  const [first] = unfinished.claimable(1_000, TASKS)
  assert.equal(first!.id, "0")
  assert.equal(
    unfinished.nextClaimableAt(1_000, TASKS, ({ payload }) => payload !== null),
    1_001,
  )
  assert.equal(reads, 1)
})
