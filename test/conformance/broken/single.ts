import { type EnqueueAnswer, isFinished, type NewRun, type Run, type Store } from "belfry/store"
import {
  allRuns,
  type BrokenStore,
  broken,
  disguising,
  each,
  findRun,
  reading,
  roundTrip,
} from "./breaking.ts"

/** Some holders of a live key are ignored. */
const ignored: readonly BrokenStore[] = [
  ignoring("a run that is running", (holder) => holder.state === "running"),
  ignoring(
    "a pending run with a delay",
    (holder, now) => holder.state === "pending" && holder.claimableAt! > now,
  ),
  ignoring(
    "a run whose worker is silent",
    (holder, now) => holder.state === "running" && holder.claimableAt! <= now,
  ),
  ignoring(
    "a run that waits for its next attempt",
    (holder) => holder.state === "pending" && holder.attempt > 0,
  ),
  ignoring("a retried run", (holder) => holder.by === null && holder.attempt === 0 && holder.error === null),
]

function ignoring(description: string, isIgnored: (holder: Run, now: number) => boolean): BrokenStore {
  return broken(6, `${description} doesn't hold its live key`, (store) => ({
    enqueue: (runs) =>
      each(runs, async (run) => {
        const [answer] = await store.enqueue([run])
        if (answer!.outcome !== "held") return answer!
        const holder = (await findRun(store, answer!.runId))!
        if (!isIgnored(holder, await store.now())) return answer!
        return (await store.enqueue([{ ...run, liveKey: null }]))[0]!
      }),
  }))
}

/** Ends that don't free the live key: a store that keeps keys apart from runs may forget to delete one. */
const stuck: readonly BrokenStore[] = (["succeeded", "failed", "cancelled"] as const).map((state) =>
  broken(6, `a run that ${state} keeps its live key`, (store) => {
    const holderOf = async (run: NewRun) =>
      (await allRuns(store)).find(
        (other) => other.liveKey !== null && other.liveKey === run.liveKey && other.state === state,
      )
    return {
      enqueue: (runs) =>
        each(runs, async (run) => {
          const holder = await holderOf(run)
          if (holder !== undefined && holder.id !== run.id)
            return { outcome: "held", runId: holder.id } as const
          return (await store.enqueue([run]))[0]!
        }),
      fire: (plans) =>
        each(plans, async (plan) => {
          for (const run of plan.runs) if (await holderOf(run)) return { outcome: "held" } as const
          return (await store.fire([plan]))[0]!
        }),
    }
  }),
)

const others = [
  broken(6, "live keys are ignored", (store) => disguising(store, () => ({ liveKey: null }))),
  broken(6, "a fire doesn't look at live keys", (store) => {
    const { fire, ...rest } = disguising(store, () => ({ liveKey: null }))
    return { fire: fire!, findRuns: rest.findRuns!, readRuns: rest.readRuns!, claim: rest.claim! }
  }),
  broken(6, "the answer names the refused run, not the holder", (store) => ({
    async enqueue(runs) {
      const answers = await store.enqueue(runs)
      return answers.map((answer, index) => ({ ...answer, runId: runs[index]!.id }))
    },
  })),
  broken(6, "live keys are compared without case", (store) =>
    disguising(store, (run) => ({ liveKey: run.liveKey === null ? null : run.liveKey.toLowerCase() })),
  ),
  broken(6, "live keys are compared without trailing spaces", (store) =>
    disguising(store, (run) => ({ liveKey: run.liveKey === null ? null : run.liveKey.trimEnd() })),
  ),
  broken(6, "runs without a live key share one", (store) =>
    disguising(store, (run) => ({ liveKey: run.liveKey ?? "" })),
  ),
  broken(6, "a skip takes a live key", (store) => {
    const taken = new Map<string, string>()
    return {
      enqueue: (runs) =>
        each(runs, async (run): Promise<EnqueueAnswer> => {
          if (run.liveKey !== null && run.state === "skipped") taken.set(run.liveKey, run.id)
          const holder = taken.get(run.liveKey ?? "")
          if (holder !== undefined && holder !== run.id) return { outcome: "held", runId: holder }
          return (await store.enqueue([run]))[0]!
        }),
    }
  }),
  broken(6, "a run's own live key makes its repeated creation held", (store) => ({
    enqueue: (runs) =>
      each(runs, async (run) => {
        const existing = await findRun(store, run.id)
        const isHolder = existing !== undefined && existing.liveKey !== null && !isFinished(existing.state)
        if (isHolder) return { outcome: "held", runId: run.id } as const
        return (await store.enqueue([run]))[0]!
      }),
    fire: (plans) =>
      each(plans, async (plan) => {
        for (const run of plan.runs) {
          const existing = await findRun(store, run.id)
          if (existing !== undefined && existing.liveKey !== null) return { outcome: "held" } as const
        }
        return (await store.fire([plan]))[0]!
      }),
  })),
  broken(6, "an enqueue reads the live key, then writes", checkingFirst),
  broken(6, "a retry ignores the live key", (store) => ({
    transition: async (changes) =>
      (await store.transition(changes)).map((answer) =>
        answer.outcome === "held" ? { outcome: "done" } : answer,
      ),
  })),
  broken(6, "a held retry takes effect in part", (store) => {
    const touched = new Map<string, string>()
    return {
      ...reading(store, (run) => ({ ...run, by: touched.get(run.id) ?? run.by })),
      async transition(changes) {
        const answers = await store.transition(changes)
        for (const [index, { runId, by }] of changes.entries()) {
          if (answers[index]!.outcome === "held" && by !== null) touched.set(runId, by)
        }
        return answers
      },
    }
  }),
  broken(6, "a run with a live key can't be retried", (store) => ({
    transition: (changes) =>
      each(changes, async (change) => {
        const run = await findRun(store, change.runId)
        const isRetry = run !== undefined && isFinished(run.state) && !isFinished(change.state)
        if (isRetry && run.liveKey !== null) return { outcome: "held" } as const
        return (await store.transition([change]))[0]!
      }),
  })),
]

function checkingFirst(store: Store): Partial<Store> {
  return {
    async enqueue(runs) {
      const unfinished = (await allRuns(store)).filter((run) => !isFinished(run.state))
      const isFree = (run: NewRun) => !unfinished.some((other) => other.liveKey === run.liveKey)
      await roundTrip()
      return store.enqueue(runs.map((run) => (isFree(run) ? { ...run, liveKey: null } : run)))
    },
  }
}

export const BROKEN_SINGLE = [...ignored, ...stuck, ...others]
