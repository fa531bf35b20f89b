import { isAlreadyMade } from "../../../src/core/run.ts"
import { pruned } from "../../../src/store/laws/factories.ts"
import { createMemoryStore } from "../../../src/stores/memory/memory-store.ts"
import { allWorkers, type BrokenStore, broken, each, findRun, findSchedule } from "./breaking.ts"
import { BROKEN_LOG_IDENTITY } from "./logs.ts"

/** `drop table if exists` at the head of the schema. */
const wiping: BrokenStore = {
  law: 8,
  bug: "opening begins with an empty database",
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
  broken(8, "opening twice is a fault", (store) => {
    let isOpen = false
    return {
      async open() {
        if (isOpen) throw new Error("already open")
        isOpen = true
        return store.open()
      },
    }
  }),
  broken(8, "closing twice is a fault", (store) => {
    let isClosed = false
    return {
      async close() {
        if (isClosed) throw new Error("Called end on pool more than once")
        isClosed = true
        return store.close()
      },
    }
  }),
  broken(8, "the same schedule put again is a new version", (store) => ({
    async putSchedule(schedule, ifVersion) {
      const there = await findSchedule(store, schedule.id)
      const isSame = there?.description === schedule.description
      return store.putSchedule(schedule, isSame ? there!.version : ifVersion)
    },
  })),
  broken(8, "deleting what is not there is done", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        const there = await findSchedule(store, plan.scheduleId)
        if (plan.progress === null && there === undefined) return { outcome: "done", created: [] }
        return (await store.fire([plan]))[0]!
      }),
  })),
  broken(8, "a plan fired again moves the version again", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        const [answer] = await store.fire([plan])
        const there = await findSchedule(store, plan.scheduleId)
        const isThere = plan.runs.length > 0 && (await findRun(store, plan.runs[0]!.id))
        if (answer!.outcome !== "stale" || there === undefined || !isThere) return answer!
        return (await store.fire([{ ...plan, ifVersion: there.version }]))[0]!
      }),
  })),
  broken(8, "a run enqueued again waits its delay again", (store) => ({
    async enqueue(runs) {
      const answers = await store.enqueue(runs)
      for (const [index, { id, delayMs }] of runs.entries()) {
        const there = await findRun(store, id)
        if (answers[index]!.outcome !== "exists" || there?.state !== "pending") continue
        const { state, attempt, failures, lost, message, details, error } = there
        const unsaid = { outcome: null, progress: null, reason: null, by: null }
        const rest = { ...unsaid, failures, lost, message, details, error }
        await store.transition([
          { runId: id, ifState: state, ifAttempt: attempt, state, claimableInMs: delayMs, ...rest },
        ])
      }
      return answers
    },
  })),
  broken(8, "a run enqueued again after it was cancelled waits again", (store) => ({
    async enqueue(runs) {
      const answers = await store.enqueue(runs)
      for (const [index, { id }] of runs.entries()) {
        const there = await findRun(store, id)
        if (answers[index]!.outcome !== "exists" || there?.state !== "cancelled") continue
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
          ifState: there.state,
          ifAttempt: there.attempt,
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
  broken(8, "a second goodbye is a fault", (store) => ({
    async heartbeat(beat) {
      const isKnown = (await allWorkers(store)).some(({ id }) => id === beat.worker.id)
      if (beat.isLeaving && !isKnown) throw new Error(`no worker ${beat.worker.id}`)
      return store.heartbeat(beat)
    },
  })),
  broken(8, "a change that was made is made again", (store) => ({
    transition: (changes) =>
      each(changes, async (change) => {
        const answer = (await store.transition([change]))[0]!
        if (answer.outcome !== "stale" || !isAlreadyMade(change, answer)) return answer
        return (await store.transition([{ ...change, ifState: answer.state! }]))[0]!
      }),
  })),
  broken(8, "pruning counts what it was asked for", (store) => ({
    async prune(request) {
      await store.prune(request)
      return pruned({ runs: request.limit, workers: 1 })
    },
  })),
]
