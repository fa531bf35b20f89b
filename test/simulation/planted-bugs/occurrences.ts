import { runIdOf } from "../../../src/core/planning/occurrence.ts"
import type { FirePlan } from "../../../src/core/planning/plan.ts"
import { isRange } from "../../../src/core/run/run.ts"
import { HOUR, MINUTE } from "../../../src/core/time/instant.ts"
import type { Store } from "../../../src/store/store.ts"
import type { PlantedBug } from "../world.ts"
import { idsOf, withPlans } from "./plans.ts"

/** Bugs in what becomes of an occurrence: its run, its record, or the watermark that passes it. */
export const OCCURRENCE_BUGS: Readonly<Record<string, PlantedBug>> = {
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
  "M5 no catch-up: late occurrences are dropped": {
    inProcess: (store) =>
      withPlans(store, (plan) => ({
        ...plan,
        runs: plan.runs.filter((run) => run.triggeredBy !== "catchup" && run.state === "pending"),
      })),
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
  "M17 a skip is not recorded": {
    inProcess: (store) =>
      withPlans(store, (plan) => ({ ...plan, runs: plan.runs.filter((run) => run.state === "pending") })),
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
  "M28 occurrences that a reschedule passes over are never recorded": {
    inProcess: (store) =>
      withPlans(store, (plan) => ({
        ...plan,
        runs: plan.runs.filter((run) => run.reason !== "operator" || !isRange(run)),
      })),
  },
}

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
