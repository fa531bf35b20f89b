import assert from "node:assert/strict"
import type { Store } from "belfry/store"
import fc from "fast-check"
import { test } from "vitest"
import { isFinished, type NewRun, type Run, type RunChange } from "../../../src/core/run/run.ts"
import type { Instant } from "../../../src/core/time/instant.ts"
import { aClaim, aHeartbeat, heldRun } from "../../../src/store/laws/factories.ts"
import { aPage, idsOf } from "../../../src/store/laws/steps.ts"
import { createMemoryStore } from "../../../src/stores/memory/memory-store.ts"
import { SEED } from "../../support/properties.ts"
import { anyRuns, anySteps, CHANGES, type Step } from "./run-encoding-cases.ts"
import { assertHash, type Keys, type KnownRun } from "./run-encoding-hash.ts"
import { assertSets, assertSharedHashes } from "./run-encoding-sets.ts"
import { aFreshStore } from "./scratch.ts"

test("after any changes, a run is read as from the memory store, and stored as RunFields describes", async () => {
  const { store, ...keys } = await aFreshStore()
  const property = fc.asyncProperty(anyRuns, anySteps, async (runs, steps) => {
    const pair = new StorePair(store, keys, runs)
    await pair.enqueueAll()

    for (const step of steps) await pair.perform(step)
  })
  await fc.assert(property, { seed: SEED, numRuns: 100 })
})

type Past = Omit<KnownRun, "run">

let cases = 0

/**
 * Performs the same operations on Redis and on a memory store, and compares them after each one. The clock of the memory store
 * is set to the instant at which Redis performed the operation, so all instants must be equal.
 */
class StorePair {
  readonly #redis: Store
  readonly #keys: Keys
  readonly #memory = createMemoryStore({ now: () => this.#now })
  /** Begins all names of this case, because other cases use the same Redis store. */
  readonly #prefix = `case-${++cases}-`
  readonly #newRuns: readonly NewRun[]
  readonly #past = new Map<string, Past>()
  #now: Instant = Number.NEGATIVE_INFINITY

  constructor(redis: Store, keys: Keys, runs: readonly NewRun[]) {
    this.#redis = redis
    this.#keys = keys
    this.#newRuns = runs.map((run, index) => this.#named(run, index))
  }

  /** Each run has a task of its own, so a claim never has to choose between runs that are due at the same instant. */
  #named(run: NewRun, index: number): NewRun {
    const named = (name: string | null) =>
      name === null ? null : name.replace(/^(schedule:)?/, `$1${this.#prefix}`)
    return {
      ...run,
      id: `${this.#prefix}run-${index}`,
      task: `${this.#prefix}täsk: ${index}`,
      scheduleId: named(run.scheduleId),
      parentId: named(run.parentId),
      liveKey: named(run.liveKey),
      concurrencyKey: named(run.concurrencyKey),
    }
  }

  async enqueueAll(): Promise<void> {
    await this.#enqueue(this.#newRuns)
    await this.#compare()
  }

  async perform(step: Step): Promise<void> {
    const [unsent, held, changes]: [NewRun[], Run[], RunChange[]] = [[], [], []]
    for (const newRun of step.places.flatMap((place) => this.#newRuns[place] ?? [])) {
      const [run] = await this.#memory.readRuns([newRun.id])
      const kind = kindOf(run, step)
      if (run === undefined) unsent.push(newRun)
      else if (kind === "claim") await this.#claim(run, step)
      else if (kind === "heartbeat") held.push(run)
      else changes.push(...[CHANGES[kind](run, step)].filter((change) => change !== null))
    }
    if (unsent.length > 0) await this.#enqueue(unsent)
    if (held.length > 0) await this.#beat(held, step)
    if (changes.length > 0) await this.#change(changes)
    await this.#compare()
  }

  async #enqueue(runs: readonly NewRun[]): Promise<void> {
    const answers = await this.#redis.enqueue(runs)
    const created = runs.filter((_, index) => answers[index]!.outcome === "created")
    for (const createdFrom of created)
      this.#past.set(createdFrom.id, {
        createdFrom,
        wasReopened: false,
        outcome: null,
        confirmedAttempt: null,
      })
    if (created.length > 0) {
      const [run] = await this.#redis.readRuns([created[0]!.id])
      this.#advanceTo(run!.createdAt)
    }
    assert.deepEqual(answers, await this.#memory.enqueue(runs))
  }

  async #claim({ task }: Run, { workerId, leaseMs }: Step): Promise<void> {
    const request = aClaim({ workerId, tasks: [{ name: task, leaseMs }] })
    const { now, runs } = await this.#redis.claim(request)
    this.#advanceTo(now)
    assert.deepEqual(runs, (await this.#memory.claim(request)).runs)
  }

  async #beat(runs: readonly Run[], { leaseMs, progress }: Step): Promise<void> {
    const beat = aHeartbeat({ held: runs.map((run) => heldRun(run, { leaseMs, progress })) })
    const answer = await this.#redis.heartbeat(beat)
    this.#advanceTo(answer.now)
    assert.deepEqual(answer, await this.#memory.heartbeat(beat))
    for (const { id, attempt } of runs) this.#remember(id, { confirmedAttempt: attempt })
  }

  async #change(changes: readonly RunChange[]): Promise<void> {
    const answers = await this.#redis.transition(changes)
    const made = changes.filter((_, index) => answers[index]!.outcome === "done")
    if (made.length > 0) {
      const [run] = await this.#redis.readRuns([made[0]!.runId])
      this.#advanceTo(instantOf(made[0]!, run!))
    }
    assert.deepEqual(answers, await this.#memory.transition(changes))
    for (const { runId, state, outcome } of made)
      this.#remember(runId, isFinished(state) ? { outcome } : { outcome, wasReopened: true })
  }

  #remember(id: string, news: Partial<Past>): void {
    this.#past.set(id, { ...this.#past.get(id)!, ...news })
  }

  #advanceTo(now: Instant): void {
    assert.ok(now >= this.#now, `${now} is not before ${this.#now}`)
    this.#now = now
  }

  async #compare(): Promise<void> {
    const ids = idsOf(this.#newRuns)
    const runs = await this.#memory.readRuns(ids)
    const listed = [{ idPrefix: this.#prefix }, aPage({ orderBy: "id", limit: runs.length })] as const
    const [found, summaries] = await Promise.all([
      this.#redis.readRuns(ids),
      this.#redis.findRuns(...listed),
      ...runs.map((run) => assertHash(this.#keys, { run, ...this.#past.get(run.id)! })),
      ...runs.map((run) => assertSets(this.#keys, run, runs)),
      assertSharedHashes(this.#keys, runs),
    ])
    assert.deepEqual(
      found.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      runs,
    )
    assert.deepEqual(summaries, await this.#memory.findRuns(...listed))
  }
}

function kindOf(run: Run | undefined, { ifPending, ifRunning }: Step) {
  if (run?.state === "pending") return ifPending
  return run?.state === "running" ? ifRunning : "retry"
}

/** When Redis made the change, as the changed run shows. */
function instantOf({ state, outcome }: RunChange, run: Run): Instant {
  if (isFinished(state)) return run.completedAt!
  // A retry is due at once.
  return outcome === null ? run.claimableAt! : run.attempts.at(-1)!.endedAt
}
