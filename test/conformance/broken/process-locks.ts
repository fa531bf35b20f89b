import type { Claimed, Run, Store } from "belfry/store"
import { allRuns, brokenApart, each, findRun, findSchedule, roundTrip } from "./breaking.ts"

/**
 * Stores that read in one statement and write in another, protected only by a lock in their own process. Each is correct while
 * one process uses the database, and wrong as soon as another process, with its own lock, uses it too.
 */
export const BROKEN_BY_PROCESS_LOCKS = [
  brokenApart(3, "a put is atomic within its process only", (store) => ({
    async putSchedule(schedule, ifVersion) {
      const checked = await findSchedule(store, schedule.id)
      if ((checked?.version ?? null) !== ifVersion) return { outcome: "stale" }
      await roundTrip()
      const existing = await findSchedule(store, schedule.id)
      return store.putSchedule(schedule, existing?.version ?? null)
    },
  })),
  brokenApart(3, "a change is atomic within its process only", (store) => ({
    transition: (changes) =>
      each(changes, async (change) => {
        const checked = await findRun(store, change.runId)
        await roundTrip()
        const existing = await findRun(store, change.runId)
        const stands = checked?.state === change.ifState && checked.attempt === change.ifAttempt
        const fence = stands && existing ? { ifState: existing.state, ifAttempt: existing.attempt } : {}
        return (await store.transition([{ ...change, ...fence }]))[0]!
      }),
  })),
  brokenApart(4, "a fire is atomic within its process only", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        const checked = await findSchedule(store, plan.scheduleId)
        await roundTrip()
        const existing = await findSchedule(store, plan.scheduleId)
        const ifVersion = checked?.version === plan.ifVersion ? (existing?.version ?? -1) : plan.ifVersion
        return (await store.fire([{ ...plan, ifVersion }]))[0]!
      }),
  })),
  brokenApart(4, "an enqueue reads and takes an id under a lock of its process", (store) => ({
    enqueue: (runs) =>
      each(runs, async (run) => {
        const isFree = (await findRun(store, run.id)) === undefined
        await roundTrip()
        const [answer] = await store.enqueue([run])
        return isFree && answer!.outcome === "exists" ? { outcome: "created", runId: run.id } : answer!
      }),
  })),
  brokenApart(5, "a claim is atomic within its process only", (store) => {
    let underWay: Promise<Claimed> | null = null
    return {
      async claim(request) {
        // A process that reads before the other has written reads the same rows.
        underWay ??= roundTrip().then(() => {
          underWay = null
          return store.claim(request)
        })
        const answer = await underWay
        return { ...answer, runs: answer.runs.map((run) => ({ ...run, workerId: request.workerId })) }
      },
    }
  }),
  brokenApart(6, "an enqueue reads and takes a live key under a lock of its process", (store) => ({
    enqueue: (runs) =>
      each(runs, async (run) => {
        const isFree = !(await isHeld(store, run.liveKey))
        await roundTrip()
        const [answer] = await store.enqueue([run])
        return isFree && answer!.outcome === "held" ? { outcome: "created", runId: run.id } : answer!
      }),
  })),
  brokenApart(6, "a retry reads and takes its live key under a lock of its process", (store) => ({
    transition: (changes) =>
      each(changes, async (change) => {
        const run = await findRun(store, change.runId)
        const isFree = run !== undefined && !(await isHeld(store, run.liveKey))
        await roundTrip()
        const [answer] = await store.transition([change])
        return isFree && answer!.outcome === "held" ? { outcome: "done" } : answer!
      }),
  })),
  brokenApart(7, "a claim counts keys under a lock of its process", (store) => {
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

/** Due runs that weren't given, because they wait for their key. */
async function waitingFor(store: Store, { now }: Claimed): Promise<readonly Run[]> {
  return (await allRuns(store)).filter((run) => run.state === "pending" && run.claimableAt! <= now)
}
