import type { NewRun, Store } from "belfry/store"
import { allRuns, broken, each, findSchedule } from "./breaking.ts"

export const BROKEN_ONCE_DELETING = [
  broken(4, "a deleted schedule's skips outlive it", (store) => ({
    deleteSchedule: (id, ifVersion) => keepingSkips(store, () => store.deleteSchedule(id, ifVersion)),
  })),
  broken(4, "the skips of a schedule outlive it if a plan removes it", (store) => ({
    fire: (plans) =>
      each(plans, async (plan) => {
        const fire = async () => (await store.fire([plan]))[0]!
        return plan.progress === null ? keepingSkips(store, fire) : fire()
      }),
  })),
  broken(4, "all skips of a deleted schedule go, those of the past as well", (store, clock) => ({
    async deleteSchedule(id, ifVersion) {
      clock.skewMs = -1_000_000
      const answer = await store.deleteSchedule(id, ifVersion)
      clock.skewMs = 0
      return answer
    },
  })),
  broken(4, "a delete forgets the skips to come before it looks at the version", (store) => ({
    async deleteSchedule(id, ifVersion) {
      const schedule = await findSchedule(store, id)
      if (schedule === undefined || schedule.version === ifVersion) return store.deleteSchedule(id, ifVersion)
      await store.deleteSchedule(id, schedule.version)
      await store.putSchedule(schedule, null)
      return { outcome: "stale" }
    },
  })),
]

async function keepingSkips<T>(store: Store, act: () => Promise<T>): Promise<T> {
  const skips = (await allRuns(store)).filter((run) => run.state === "skipped")
  const answer = await act()
  await store.enqueue(skips.map((run): NewRun => ({ ...run, state: "skipped", delayMs: 0, notBefore: null })))
  return answer
}
