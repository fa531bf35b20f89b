import type { ClaimRequest, Run, Store } from "belfry/store"
import { release } from "../../../src/core/run.ts"
import { allRuns, broken, disguising, roundTrip, writing } from "./breaking.ts"

export const BROKEN_SERIAL = [
  broken(7, "concurrency keys are ignored", (store) =>
    disguising(store, () => ({ concurrencyKey: null, concurrencyLimit: null })),
  ),
  broken(7, "the runs of one claim don't count, nor those of claims at the same time", countingFirst),
  broken(7, "a key counts within its task", (store) =>
    disguising(store, (run) => ({
      concurrencyKey: run.concurrencyKey && `${run.task}:${run.concurrencyKey}`,
    })),
  ),
  broken(7, "every limit is one", (store) =>
    disguising(store, (run) => ({ concurrencyLimit: run.concurrencyLimit === null ? null : 1 })),
  ),
  broken(7, "every limit is one too high", (store) =>
    disguising(store, (run) => ({
      concurrencyLimit: run.concurrencyLimit === null ? null : run.concurrencyLimit + 1,
    })),
  ),
  broken(7, "no limit is a limit of one", (store) =>
    disguising(store, (run) => ({ concurrencyLimit: run.concurrencyLimit ?? 1 })),
  ),
  broken(7, "no key is a key", (store) =>
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
  broken(7, "waiting runs hold their key", (store) => ({
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
  broken(7, "a worker counts its own runs only", (store) =>
    countingOnly(store, (run, request) => run.workerId === request.workerId),
  ),
  broken(7, "a silent worker's run is put back first, and its key is free", (store) => ({
    async claim(request) {
      await putBackSilent(store)
      return store.claim(request)
    },
  })),
  broken(7, "a silent worker's run is in its own way", (store) => ({
    async claim(request) {
      const answer = await store.claim(request)
      return {
        ...answer,
        runs: answer.runs.filter((run) => run.attempt === 1 || run.concurrencyLimit === null),
      }
    },
  })),
  broken(7, "only a success frees the key", onlySuccessFrees),
  broken(7, "a claim looks at its limit of runs, then at their keys", (store) => ({
    async claim(request) {
      const isStuck = await isHeadBlocked(store, request)
      return store.claim(isStuck ? { ...request, limit: 0 } : request)
    },
  })),
  broken(7, "a limit is forgotten by a fire and an enqueue", (store) =>
    writing(store, (run) => ({ ...run, concurrencyLimit: null })),
  ),
]

/** Counts what runs, makes a round trip, then claims by that count. */
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

/** Looks at what it takes, and at some of what runs already. */
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

/** A counter beside the runs, raised by a claim and lowered by a success. */
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
