import type { ClaimRequest, Run, Store } from "belfry/store"
import { release } from "../../../src/core/run/run.ts"
import { allRuns, broken, disguising, roundTrip, writing } from "./breaking.ts"

export const BROKEN_SERIAL = [
  broken(7, "concurrency keys are ignored", (store) =>
    disguising(store, () => ({ concurrencyKey: null, concurrencyLimit: null })),
  ),
  broken(7, "runs given by the same claim, or by claims at the same time, don't count", countingFirst),
  broken(7, "a key counts runs of its own task only", (store) =>
    disguising(store, (run) => ({
      concurrencyKey: run.concurrencyKey && `${run.task}:${run.concurrencyKey}`,
    })),
  ),
  broken(7, "every limit is one", (store) =>
    disguising(store, (run) => ({ concurrencyLimit: run.concurrencyLimit === null ? null : 1 })),
  ),
  broken(7, "every limit is too high by one", (store) =>
    disguising(store, (run) => ({
      concurrencyLimit: run.concurrencyLimit === null ? null : run.concurrencyLimit + 1,
    })),
  ),
  broken(7, "a missing limit is a limit of one", (store) =>
    disguising(store, (run) => ({ concurrencyLimit: run.concurrencyLimit ?? 1 })),
  ),
  broken(7, "runs without a key share one", (store) =>
    disguising(store, (run) => ({ concurrencyKey: run.concurrencyKey ?? "" })),
  ),
  broken(7, "runs without a limit don't count", (store) =>
    disguising(store, (run) => ({
      concurrencyKey: run.concurrencyLimit === null ? null : run.concurrencyKey,
    })),
  ),
  broken(7, "keys are compared without case and trailing spaces", (store) =>
    disguising(store, (run) => ({ concurrencyKey: run.concurrencyKey?.toLowerCase().trimEnd() ?? null })),
  ),
  broken(7, "pending runs hold their key", (store) => ({
    async claim(request) {
      const answer = await store.claim(request)
      const waiting = (await allRuns(store)).filter((run) => run.state === "pending")
      const isBlocked = (run: Run) =>
        run.concurrencyKey !== null && waiting.some((other) => other.concurrencyKey === run.concurrencyKey)
      return { ...answer, runs: answer.runs.filter((run) => !isBlocked(run)) }
    },
  })),
  broken(7, "delayed runs hold their key", (store) => ({
    async claim(request) {
      const answer = await store.claim(request)
      const delayed = (await allRuns(store)).filter(
        (run) => run.state === "pending" && run.claimableAt! > answer.now,
      )
      const isBlocked = (run: Run) =>
        run.concurrencyKey !== null && delayed.some((other) => other.concurrencyKey === run.concurrencyKey)
      return { ...answer, runs: answer.runs.filter((run) => !isBlocked(run)) }
    },
  })),
  broken(7, "only the runs of one claim count", (store) => countingOnly(store, () => false)),
  broken(7, "only the worker's own runs count", (store) =>
    countingOnly(store, (run, request) => run.workerId === request.workerId),
  ),
  broken(7, "a silent worker's run is released first, and its key is free", (store) => ({
    async claim(request) {
      await putBackSilent(store)
      return store.claim(request)
    },
  })),
  broken(7, "a silent worker's run is blocked by its own key", (store) => ({
    async claim(request) {
      const answer = await store.claim(request)
      return {
        ...answer,
        runs: answer.runs.filter((run) => run.attempt === 1 || run.concurrencyLimit === null),
      }
    },
  })),
  broken(7, "only a success frees the key", onlySuccessFrees),
  broken(7, "a claim applies its limit before it checks the keys", (store) => ({
    async claim(request) {
      const isStuck = await isHeadBlocked(store, request)
      return store.claim(isStuck ? { ...request, limit: 0 } : request)
    },
  })),
  broken(7, "a fire and an enqueue don't store the limit", (store) =>
    writing(store, (run) => ({ ...run, concurrencyLimit: null })),
  ),
]

/** Counts the running runs, makes a round trip, then claims with that count. */
function countingFirst(store: Store): Partial<Store> {
  const { shown, findRuns, ...rest } = disguising(store, () => ({ concurrencyKey: null }))
  return {
    ...rest,
    findRuns: findRuns!,
    async claim(request) {
      const running = (await allRuns(store)).filter((run) => run.state === "running").map(shown)
      await roundTrip()
      const answer = await store.claim(request)
      const isFull = (run: Run) =>
        run.concurrencyKey !== null &&
        run.concurrencyLimit !== null &&
        running.filter((other) => other.concurrencyKey === run.concurrencyKey && other.id !== run.id)
          .length >= run.concurrencyLimit
      const runs = answer.runs.map(shown)
      await store.transition(runs.filter(isFull).map((run) => release(run, "")))
      return { ...answer, runs: runs.filter((run) => !isFull(run)) }
    },
  }
}

/** Counts the runs that it gives, and only some of the running runs. */
function countingOnly(store: Store, counts: (run: Run, request: ClaimRequest) => boolean): Partial<Store> {
  const { shown, ...rest } = disguising(store, () => ({ concurrencyKey: null }))
  return {
    ...rest,
    async claim(request) {
      const before = (await allRuns(store))
        .filter((run) => run.state === "running" && counts(run, request))
        .map(shown)
      const answer = await store.claim(request)
      const runs = answer.runs.map(shown)
      const isBeyond = (run: Run, index: number) => {
        const counted = [...before, ...runs.slice(0, index)].filter(({ id }) => id !== run.id)
        const sharing = counted.filter((other) => other.concurrencyKey === run.concurrencyKey).length
        return run.concurrencyKey !== null && run.concurrencyLimit !== null && sharing >= run.concurrencyLimit
      }
      await store.transition(runs.filter(isBeyond).map((run) => release(run, "")))
      return { ...answer, runs: runs.filter((run, index) => !isBeyond(run, index)) }
    },
  }
}

async function putBackSilent(store: Store): Promise<void> {
  const now = await store.now()
  const silent = (await allRuns(store)).filter((run) => run.state === "running" && run.claimableAt! <= now)
  await store.transition(silent.map((run) => ({ ...release(run, ""), outcome: "lost", lost: run.lost + 1 })))
}

/** A counter that a claim raises and only a success lowers. */
function onlySuccessFrees(store: Store): Partial<Store> {
  const keys = new Map<string, string>()
  return {
    async claim(request) {
      const answer = await store.claim(request)
      const isFree = (run: Run) =>
        run.concurrencyLimit !== 1 ||
        [...keys].every(([id, key]) => id === run.id || key !== run.concurrencyKey)
      const runs = answer.runs.filter(isFree)
      for (const run of runs) if (run.concurrencyKey !== null) keys.set(run.id, run.concurrencyKey)
      return { ...answer, runs }
    },
    transition(changes) {
      for (const change of changes) if (change.state === "succeeded") keys.delete(change.runId)
      return store.transition(changes)
    },
  }
}

async function isHeadBlocked(store: Store, request: ClaimRequest): Promise<boolean> {
  const runs = await allRuns(store)
  const names = request.tasks.map((task) => task.name)
  const due = runs.filter((run) => run.state === "pending" && names.includes(run.task))
  const head = due.sort((a, b) => b.priority - a.priority).slice(0, request.limit)
  const isBlocked = (run: Run) =>
    run.concurrencyKey !== null &&
    runs.some((other) => other.state === "running" && other.concurrencyKey === run.concurrencyKey)
  return head.length > 0 && head.every(isBlocked)
}
