import { runIdOf } from "../../src/core/planning/occurrence.ts"
import { type FirePlan, NO_FACTS } from "../../src/core/planning/plan.ts"
import { isRange, type Run, type RunChange } from "../../src/core/run/run.ts"
import type { Schedule } from "../../src/core/schedule/schedule.ts"
import { HOUR, MINUTE, SECOND } from "../../src/core/time/instant.ts"
import type { DueSchedules, Store } from "../../src/store/store.ts"
import type { PlantedBug, WorldClock } from "./world.ts"

/**
 * Bugs that schedulers have shipped, planted one at a time. If the simulation missed one, its success would prove nothing.
 * A bug of the engine is planted by changing the requests that a process sends to the store, or the replies that it gets.
 */
export const PLANTED_BUGS: Readonly<Record<string, PlantedBug>> = {
  "M1 no unique key: an occurrence can be created again": {
    inStore: (store) => ({
      ...store,
      fire: async (plans) => {
        const answers = await store.fire(plans)
        return answers.map((answer, index) =>
          answer.outcome === "done" ? { ...answer, created: idsOf(plans[index]!) } : answer,
        )
      },
      enqueue: async (runs) =>
        (await store.enqueue(runs)).map((answer) =>
          answer.outcome === "exists" ? { ...answer, outcome: "created" } : answer,
        ),
    }),
  },
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
  "M3 next time computed from the process's own clock": {
    inProcess: (store, node) => ({
      ...store,
      dueSchedules: async (request) => {
        const read = await store.dueSchedules(request)
        return { ...read, now: node.clock.now() }
      },
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
  "M5 no catch-up: late occurrences are dropped": {
    inProcess: (store) =>
      withPlans(store, (plan) => ({
        ...plan,
        runs: plan.runs.filter((run) => run.triggeredBy !== "catchup" && run.state === "pending"),
      })),
  },
  "M6 a leader that is never replaced": {
    inProcess: (store, node) => ({
      ...store,
      dueSchedules: (request) => (node.name === "node-1" ? store.dueSchedules(request) : nothingDue(store)),
    }),
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
  "M9 retention deletes the watermark": {
    inStore: (store) => ({
      ...store,
      prune: async (request) => {
        const pruned = await store.prune(request)
        for (const schedule of await store.findSchedules({}, { orderBy: "id", after: null, limit: 100 })) {
          await store.putSchedule(
            { ...schedule, coveredUntil: schedule.createdAt, nextRunAt: schedule.createdAt },
            schedule.version,
          )
        }
        return pruned
      },
    }),
  },
  "M10 the watermark is one occurrence too far": {
    inProcess: (store) =>
      withPlans(store, (plan) =>
        plan.progress === null || plan.runs.length === 0
          ? plan
          : { ...plan, progress: { ...plan.progress, coveredUntil: plan.progress.coveredUntil! + HOUR } },
      ),
  },
  "M11 an edit drops the occurrence that jitter delays": {
    inStore: (store, world) => ({
      ...store,
      fire: (plans) => {
        const now = world.storeNow()
        return store.fire(
          plans.map((plan) => ({ ...plan, runs: plan.runs.filter((run) => (run.notBefore ?? 0) <= now) })),
        )
      },
    }),
  },
  "M12 the number of rows affected is trusted for the whole batch": {
    inStore: (store) => ({
      ...store,
      fire: async (plans) => {
        const answers = await store.fire(plans)
        if (!answers.some((answer) => answer.outcome === "done")) return answers
        return plans.map((plan) => ({ outcome: "done", created: idsOf(plan) }))
      },
    }),
  },
  "M13 a loop that stops after its first error": {
    inProcess: (store) => {
      let hasFailed = false
      return {
        ...store,
        dueSchedules: (request) => {
          if (hasFailed) return new Promise(() => undefined)
          return store.dueSchedules(request).catch((error: unknown) => {
            hasFailed = true
            throw error
          })
        },
      }
    },
  },
  "M14 a schedule is fired when a timer ends early": {
    inProcess: (store) => ({ ...store, dueSchedules: ({ limit }) => dueWithin(store, limit, 5 * SECOND) }),
  },
  "M15 after a sleep every missed timer fires": {
    inProcess: (store) => ({
      ...store,
      dueSchedules: async (request) => {
        const read = await store.dueSchedules(request)
        return {
          ...read,
          due: read.due.map(({ schedule, facts }) => ({
            facts,
            schedule: {
              ...schedule,
              catchUp: { ...schedule.catchUp, policy: "all" as const, limit: 50 },
              overlap: { policy: "allow" as const, limit: 1 },
            },
          })),
        }
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
  "M17 a skip is not recorded": {
    inProcess: (store) =>
      withPlans(store, (plan) => ({ ...plan, runs: plan.runs.filter((run) => run.state === "pending") })),
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
  "M19 an old revision overwrites a new one": {
    inStore: (store) => ({
      ...store,
      putSchedule: async (schedule, ifVersion) => {
        const [stored] = await store.findSchedules(
          { ids: [schedule.id] },
          { orderBy: "id", after: null, limit: 1 },
        )
        return store.putSchedule(schedule, ifVersion === null ? null : (stored?.version ?? ifVersion))
      },
    }),
  },
  "M20 a plan made from a read before a pause ignores the pause": {
    inStore: (store) => ({
      ...store,
      fire: async (plans) => {
        const ids = plans.map((plan) => plan.scheduleId)
        const stored = await store.findSchedules({ ids }, { orderBy: "id", after: null, limit: ids.length })
        const versions = new Map(stored.map(({ id, version }) => [id, version]))
        return store.fire(
          plans.map((plan) => ({ ...plan, ifVersion: versions.get(plan.scheduleId) ?? plan.ifVersion })),
        )
      },
    }),
  },
  "M21 a range has the id of its last occurrence, so a run fired from memory replaces it": {
    inProcess: (store) => ({
      ...withPlans(store, (plan) => ({
        ...plan,
        runs: plan.runs.map((run) =>
          isRange(run) ? { ...run, id: runIdOf(run.scheduleId!, run.scheduledFor!) } : run,
        ),
      })),
      ...withoutRecords(store),
    }),
  },
  "M22 a range counts occurrences that were fired from memory": {
    inProcess: (store) => ({ ...store, ...withoutRecords(store) }),
  },
  "M23 a process that fires from memory records late occurrences as skipped": {
    inProcess: (store) => ({
      ...store,
      enqueue: async (runs) => {
        const fired = runs.filter((run) => run.triggeredBy === "schedule" && run.state === "pending")
        const late = fired.map((run) => ({
          ...run,
          id: runIdOf(run.scheduleId!, run.scheduledFor! - MINUTE),
          scheduledFor: run.scheduledFor! - MINUTE,
          state: "skipped" as const,
          reason: "missed",
          liveKey: null,
        }))
        return (await store.enqueue([...runs, ...late])).slice(0, runs.length)
      },
    }),
  },
  "M24 occurrences missed before a pause are recorded as paused": {
    inProcess: (store) => withPlans(store, pausedFromTheStart),
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
  "M26 a worker drops confirmed attempts that it didn't begin, without releasing them": {
    inProcess: (store) => ({
      ...store,
      transition: async (changes) => {
        const isSent = ({ outcome, reason }: RunChange) => outcome !== "released" || reason === LOST
        const answers = [...(await store.transition(changes.filter(isSent)))]
        return changes.map((change) =>
          isSent(change) ? answers.shift()! : { outcome: "stale", state: "running", attempt: 0 },
        )
      },
    }),
  },
  "M27 declared schedules are read only once per poll interval": {
    inProcess: (store, node) => {
      let readAt = Number.NEGATIVE_INFINITY
      let last: readonly Schedule[] = []
      return {
        ...store,
        findSchedules: async (filter, page) => {
          if ((filter.ids?.length ?? 0) < 2) return store.findSchedules(filter, page)
          if (node.clock.monotonic() - readAt < 5 * MINUTE) return last
          last = await store.findSchedules(filter, page)
          readAt = node.clock.monotonic()
          return last
        },
      }
    },
  },
  "M28 occurrences that a reschedule passes over are never recorded": {
    inProcess: (store) =>
      withPlans(store, (plan) => ({
        ...plan,
        runs: plan.runs.filter((run) => run.reason !== "operator" || !isRange(run)),
      })),
  },
}

/** The reason of a run that failed because it cost too many workers. */
const LOST = "lost"

/** Makes the records before the record of a pause part of it. */
function pausedFromTheStart(plan: FirePlan): FirePlan {
  const last = plan.runs.findLastIndex((run) => run.reason === "paused")
  if (last <= 0) return plan
  const { scheduledFor, missed } = plan.runs[0]!
  const { scheduledFor: until, ...paused } = plan.runs[last]!
  const from = missed?.from ?? scheduledFor!
  const range = { ...paused, scheduledFor: until, missed: { from, until: until!, count: 2 } }
  return { ...plan, runs: [range, ...plan.runs.slice(last + 1)] }
}

/** Looking up recorded occurrences finds nothing. */
function withoutRecords(store: Store): Pick<Store, "findRuns"> {
  return { findRuns: async (filter, page) => (page.from === undefined ? store.findRuns(filter, page) : []) }
}

function find(store: Store, id: string): Promise<readonly Run[]> {
  return store.readRuns([id])
}

function withPlans(store: Store, change: (plan: FirePlan) => FirePlan): Store {
  return { ...store, fire: (plans) => store.fire(plans.map(change)) }
}

function idsOf(plan: FirePlan): readonly string[] {
  return plan.runs.map((run) => run.id)
}

async function nothingDue(store: Store) {
  return { now: await store.now(), due: [], nextDueAt: null, nextDueCount: 0 }
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

/** Schedules that are due within `earlyMs` are returned as due. */
async function dueWithin(store: Store, limit: number, earlyMs: number): Promise<DueSchedules> {
  const read = await store.dueSchedules({ limit })
  const schedules = await store.findSchedules({}, { orderBy: "id", after: null, limit: 100 })
  const early = schedules.filter(
    ({ nextRunAt }) => nextRunAt !== null && nextRunAt > read.now && nextRunAt <= read.now + earlyMs,
  )
  return {
    now: read.now + earlyMs,
    due: [...read.due, ...early.map((schedule) => ({ schedule, facts: NO_FACTS }))],
    nextDueAt: read.nextDueAt,
    nextDueCount: read.nextDueCount,
  }
}
