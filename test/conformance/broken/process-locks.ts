import type { Claimed, Run, Store } from "belfry/store"
import { allRuns, brokenApart, each, findRun, findSchedule, roundTrip } from "./breaking.ts"

/**
 * Stores that read in one statement and write in another, and are kept from harm by a lock in their own process. Each is
 * sound while it has the database for itself, and wrong as soon as another process has a lock of its own.
 */
export const BROKEN_BY_PROCESS_LOCKS = [
  brokenApart(3, "a put is made an atom by the process", (store) => ({
    async putSchedule(schedule, ifVersion) {
      const checked = await findSchedule(store, schedule.id)
      if ((checked?.version ?? null) !== ifVersion) return { outcome: "stale" }
      await roundTrip()
      const there = await findSchedule(store, schedule.id)
      return store.putSchedule(schedule, there?.version ?? null)
    },
  })),
  brokenApart(3, "a change is made an atom by the process", (store) => ({
    transition: (changes) =>
      each(changes, async (change) => {
        const checked = await findRun(store, change.runId)
        await roundTrip()
        const there = await findRun(store, change.runId)
        const stands = checked?.state === change.ifState && checked.attempt === change.ifAttempt
        const fence = stands && there ? { ifState: there.state, ifAttempt: there.attempt } : {}
        return (await store.transition([{ ...change, ...fence }]))[0]!
      }),
  })),
  brokenApart(4, "a fire is made an atom by the process", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        const checked = await findSchedule(store, plan.scheduleId)
        await roundTrip()
        const there = await findSchedule(store, plan.scheduleId)
        const ifVersion = checked?.version === plan.ifVersion ? (there?.version ?? -1) : plan.ifVersion
        return (await store.fire([{ ...plan, ifVersion }]))[0]!
      }),
  })),
  brokenApart(4, "an id is asked for and taken under a lock of the process", (store) => ({
    enqueue: (runs) =>
      each(runs, async (run) => {
        const isFree = (await findRun(store, run.id)) === undefined
        await roundTrip()
        const [answer] = await store.enqueue([run])
        return isFree && answer!.outcome === "exists" ? { outcome: "created", runId: run.id } : answer!
      }),
  })),
  brokenApart(5, "a claim is made an atom by the process", (store) => {
    let underWay: Promise<Claimed> | null = null
    return {
      async claim(request) {
        // Whoever reads before the other has written reads the same rows.
        underWay ??= roundTrip().then(() => {
          underWay = null
          return store.claim(request)
        })
        const answer = await underWay
        return { ...answer, runs: answer.runs.map((run) => ({ ...run, workerId: request.workerId })) }
      },
    }
  }),
  brokenApart(6, "a live key is asked for and taken under a lock of the process", (store) => ({
    enqueue: (runs) =>
      each(runs, async (run) => {
        const isFree = !(await isHeld(store, run.liveKey))
        await roundTrip()
        const [answer] = await store.enqueue([run])
        return isFree && answer!.outcome === "held" ? { outcome: "created", runId: run.id } : answer!
      }),
  })),
  brokenApart(6, "a revival asks for its live key under a lock of the process", (store) => ({
    transition: (changes) =>
      each(changes, async (change) => {
        const run = await findRun(store, change.runId)
        const isFree = run !== undefined && !(await isHeld(store, run.liveKey))
        await roundTrip()
        const [answer] = await store.transition([change])
        return isFree && answer!.outcome === "held" ? { outcome: "done" } : answer!
      }),
  })),
  brokenApart(7, "keys are counted under a lock of the process", (store) => {
    let claims = 0
    return {
      async claim(request) {
        claims++
        await roundTrip()
        const isRaced = claims > 1
        const answer = await store.claim(request)
        claims--
        const blocked = isRaced ? await waitingFor(store, answer) : []
        return { ...answer, runs: [...answer.runs, ...blocked].slice(0, request.limit) }
      },
    }
  }),
]

async function isHeld(store: Store, liveKey: string | null): Promise<boolean> {
  const runs = await allRuns(store)
  return liveKey !== null && runs.some((run) => run.liveKey === liveKey && run.claimableAt !== null)
}

/** What is due and was not given: it waits for its key. */
async function waitingFor(store: Store, { now }: Claimed): Promise<readonly Run[]> {
  return (await allRuns(store)).filter((run) => run.state === "pending" && run.claimableAt! <= now)
}
