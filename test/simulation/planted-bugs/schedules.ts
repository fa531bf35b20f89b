import type { Schedule } from "../../../src/core/schedule/schedule.ts"
import { MINUTE } from "../../../src/core/time/instant.ts"
import type { PlantedBug } from "../world.ts"

/** Bugs in how the changes of schedules are written and read. */
export const SCHEDULE_BUGS: Readonly<Record<string, PlantedBug>> = {
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
}
