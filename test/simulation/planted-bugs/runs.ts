import type { Run, RunChange } from "../../../src/core/run/run.ts"
import { SECOND } from "../../../src/core/time/instant.ts"
import type { Store } from "../../../src/store/store.ts"
import type { PlantedBug, WorldClock } from "../world.ts"

/** Bugs in how runs are claimed, kept by heartbeats, counted and ended. */
export const RUN_BUGS: Readonly<Record<string, PlantedBug>> = {
  "M2 completion without a fence": {
    inStore: (store) => ({
      ...store,
      transition: async (changes) =>
        Promise.all(
          changes.map(async (change) => {
            const [run] = await find(store, change.runId)
            // Only the state is compared, so a stalled worker matches the run of the worker that took over.
            const unfenced = run?.state === change.ifState ? { ...change, ifAttempt: run.attempt } : change
            return (await store.transition([unfenced]))[0]!
          }),
        ),
    }),
  },
  "M4 end of a lease decided by the claimer's clock": {
    inStore: (store, world) => {
      const stolenBefore = new Set<string>()
      return {
        ...store,
        claim: async (request) => {
          // Half of the processes are minutes ahead. By their clocks every lease has ended.
          const claimed = await store.claim(request)
          const running = claimed.runs.length > 0 ? [] : await takeRunning(store, request.workerId, world)
          // Each run is stolen once. A worker that is refused at once would claim without end, and time would not pass.
          const stolen = running.filter(({ id }) => !stolenBefore.has(id) && stolenBefore.add(id))
          return { ...claimed, runs: [...claimed.runs, ...stolen] }
        },
      }
    },
  },
  "M7 heartbeats wait behind the handlers": {
    inProcess: (store, node) => ({
      ...store,
      heartbeat: async (beat) => {
        if (beat.held.length > 0)
          await new Promise<void>((resolve) => node.clock.setTimer(45 * SECOND, resolve))
        return store.heartbeat(beat)
      },
    }),
  },
  "M8 failures counted in memory": {
    inStore: (store) => ({
      ...store,
      claim: async (request) => {
        const claimed = await store.claim(request)
        return { ...claimed, runs: claimed.runs.map((run) => ({ ...run, failures: 0 })) }
      },
    }),
  },
  "M16 attempts start again with a new worker": {
    inStore: (store) => ({
      ...store,
      claim: async (request) => {
        const claimed = await store.claim(request)
        return { ...claimed, runs: claimed.runs.map((run) => ({ ...run, attempt: 1 })) }
      },
    }),
  },
  "M18 the run of a claim that seemed to fail is performed again": {
    inStore: (store) => {
      let last: readonly Run[] = []
      return {
        ...store,
        claim: async (request) => {
          const claimed = await store.claim(request)
          const repeated = claimed.runs.length === 0 ? last.slice(0, 1) : []
          last = claimed.runs
          return { ...claimed, runs: [...claimed.runs, ...repeated] }
        },
      }
    },
  },
  "M25 a claim whose reply reached no worker counts as a lost attempt": {
    inStore: (store) => ({
      ...store,
      claim: async (request) => {
        const answer = await store.claim(request)
        const isUnconfirmed = ({ attempts }: Run) => attempts.at(-1)?.outcome === "unconfirmed"
        const runs = answer.runs.map((run) => (isUnconfirmed(run) ? { ...run, lost: run.lost + 1 } : run))
        return { ...answer, runs }
      },
    }),
  },
  "M29 a worker is not told which attempts were lost": {
    inProcess: (store) => ({
      ...store,
      claim: async (request) => {
        const answer = await store.claim(request)
        return { ...answer, runs: answer.runs.map((run) => ({ ...run, attempts: [] })) }
      },
    }),
  },
  "M26 a worker drops confirmed attempts that it didn't begin, without releasing them": {
    inProcess: (store) => ({
      ...store,
      transition: async (changes) => {
        const isSent = ({ outcome }: RunChange) => outcome !== "released"
        const answers = [...(await store.transition(changes.filter(isSent)))]
        return changes.map((change) =>
          isSent(change) ? answers.shift()! : { outcome: "stale", state: "running", attempt: 0 },
        )
      },
    }),
  },
}

function find(store: Store, id: string): Promise<readonly Run[]> {
  return store.readRuns([id])
}

/** Returns a run of another worker as if its lease had ended, as a claim by a fast clock would. */
async function takeRunning(store: Store, workerId: string, world: WorldClock): Promise<readonly Run[]> {
  const page = { orderBy: "createdAt", after: null, limit: 1 } as const
  const [newest] = await store.findRuns({ states: ["running"] }, page)
  const [run] = newest === undefined ? [] : await find(store, newest.id)
  if (run === undefined || run.workerId === workerId) return []
  return [
    {
      ...run,
      attempt: run.attempt + 1,
      workerId,
      lost: run.lost + 1,
      claimableAt: world.storeNow() + 30 * SECOND,
    },
  ]
}
