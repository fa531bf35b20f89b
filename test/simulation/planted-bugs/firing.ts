import { NO_FACTS } from "../../../src/core/planning/plan.ts"
import { SECOND } from "../../../src/core/time/instant.ts"
import type { DueSchedules, Store } from "../../../src/store/store.ts"
import type { PlantedBug } from "../world.ts"
import { idsOf } from "./plans.ts"

/** Bugs in when a schedule is fired, by which process, and what it believes of the answers. */
export const FIRING_BUGS: Readonly<Record<string, PlantedBug>> = {
  "M3 next time computed from the process's own clock": {
    inProcess: (store, node) => ({
      ...store,
      dueSchedules: async (request) => {
        const read = await store.dueSchedules(request)
        return { ...read, now: node.clock.now() }
      },
    }),
  },
  "M6 a leader that is never replaced": {
    inProcess: (store, node) => ({
      ...store,
      dueSchedules: (request) => (node.name === "node-1" ? store.dueSchedules(request) : nothingDue(store)),
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
}

async function nothingDue(store: Store) {
  return { now: await store.now(), due: [], nextDueAt: null, nextDueCount: 0 }
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
