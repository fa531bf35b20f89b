import { isAlreadyMade } from "../../../src/core/run/run.ts"
import { pruned } from "../../../src/store/laws/factories.ts"
import { createMemoryStore } from "../../../src/stores/memory/memory-store.ts"
import { allWorkers, type BrokenStore, broken, each, findRun, findSchedule } from "./breaking.ts"
import { BROKEN_LOG_IDENTITY } from "./logs.ts"

/** The schema begins with `drop table if exists`. */
const wiping: BrokenStore = {
  law: 8,
  bug: "opening empties the database",
  create(clock) {
    let store = createMemoryStore(clock)
    return new Proxy(store, {
      get: (_, name: keyof typeof store) =>
        name === "open"
          ? async () => {
              store = createMemoryStore(clock)
            }
          : store[name],
    })
  },
}

export const BROKEN_REPEATABLE = [
  wiping,
  ...BROKEN_LOG_IDENTITY,
  broken(8, "a plan with the same run twice counts as held", (store) => ({
    async fire(plans) {
      const isDoubled = (ids: readonly string[]) => new Set(ids).size < ids.length
      if (plans.some(({ runs }) => isDoubled(runs.map(({ id }) => id))))
        return plans.map(() => ({ outcome: "held" }))
      return store.fire(plans)
    },
  })),
  broken(8, "opening twice throws", (store) => {
    let isOpen = false
    return {
      async open() {
        if (isOpen) throw new Error("already open")
        isOpen = true
        return store.open()
      },
    }
  }),
  broken(8, "closing twice throws", (store) => {
    let isClosed = false
    return {
      async close() {
        if (isClosed) throw new Error("Called end on pool more than once")
        isClosed = true
        return store.close()
      },
    }
  }),
  broken(8, "putting the same schedule again makes a new version", (store) => ({
    async putSchedule(schedule, ifVersion) {
      const existing = await findSchedule(store, schedule.id)
      const isSame = existing?.description === schedule.description
      return store.putSchedule(schedule, isSame ? existing!.version : ifVersion)
    },
  })),
  broken(8, "deleting a schedule that isn't stored is answered as done", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        const existing = await findSchedule(store, plan.scheduleId)
        if (plan.progress === null && existing === undefined) return { outcome: "done", created: [] }
        return (await store.fire([plan]))[0]!
      }),
  })),
  broken(8, "a plan that is fired again makes a new version again", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        const [answer] = await store.fire([plan])
        const existing = await findSchedule(store, plan.scheduleId)
        const isStored = plan.runs.length > 0 && (await findRun(store, plan.runs[0]!.id))
        if (answer!.outcome !== "stale" || existing === undefined || !isStored) return answer!
        return (await store.fire([{ ...plan, ifVersion: existing.version }]))[0]!
      }),
  })),
  broken(8, "a run that is enqueued again is delayed again", (store) => ({
    async enqueue(runs) {
      const answers = await store.enqueue(runs)
      for (const [index, { id, delayMs }] of runs.entries()) {
        const existing = await findRun(store, id)
        if (answers[index]!.outcome !== "exists" || existing?.state !== "pending") continue
        const { state, attempt, failures, lost, message, details, error } = existing
        const unset = { outcome: null, progress: null, reason: null, by: null }
        const rest = { ...unset, failures, lost, message, details, error }
        await store.transition([
          { runId: id, ifState: state, ifAttempt: attempt, state, claimableInMs: delayMs, ...rest },
        ])
      }
      return answers
    },
  })),
  broken(8, "a cancelled run that is enqueued again becomes pending", (store) => ({
    async enqueue(runs) {
      const answers = await store.enqueue(runs)
      for (const [index, { id }] of runs.entries()) {
        const existing = await findRun(store, id)
        if (answers[index]!.outcome !== "exists" || existing?.state !== "cancelled") continue
        const rest = {
          failures: 0,
          lost: 0,
          message: null,
          details: null,
          error: null,
          progress: null,
          reason: null,
          by: null,
        }
        const change = {
          runId: id,
          ifState: existing.state,
          ifAttempt: existing.attempt,
          state: "pending" as const,
        }
        await store.transition([{ ...change, claimableInMs: 0, outcome: null, ...rest }])
      }
      return answers
    },
  })),
  broken(8, "every heartbeat adds a worker", (store) => {
    let beats = 0
    return {
      heartbeat(beat) {
        if (!beat.isLeaving) beats++
        return store.heartbeat(beat)
      },
      findWorkers: async (page) =>
        (await store.findWorkers(page)).flatMap((worker) => Array(beats).fill(worker)),
    }
  }),
  broken(8, "a worker that leaves twice gets an exception", (store) => ({
    async heartbeat(beat) {
      const isKnown = (await allWorkers(store)).some(({ id }) => id === beat.worker.id)
      if (beat.isLeaving && !isKnown) throw new Error(`no worker ${beat.worker.id}`)
      return store.heartbeat(beat)
    },
  })),
  broken(8, "a change that is sent again is made again", (store) => ({
    transition: (changes) =>
      each(changes, async (change) => {
        const answer = (await store.transition([change]))[0]!
        if (answer.outcome !== "stale" || !isAlreadyMade(change, answer)) return answer
        return (await store.transition([{ ...change, ifState: answer.state! }]))[0]!
      }),
  })),
  broken(8, "pruning returns the limit as its count", (store) => ({
    async prune(request) {
      await store.prune(request)
      return pruned({ runs: request.limit, workers: 1 })
    },
  })),
]
