import type { Schedule } from "../../core/schedule.ts"
import type { ScheduleFilter, SchedulePage, Store } from "../../store/store.ts"

/** Reading more schedules than one page holds. */

const PAGE = 500

/** All that a filter finds, page by page in the order of ids: what is done to one meanwhile doesn't move the others. */
export async function* schedulesBy(store: Store, filter: ScheduleFilter): AsyncIterable<Schedule> {
  for (let after: SchedulePage["after"] = null; ; ) {
    const page: readonly Schedule[] = await store.findSchedules(filter, { orderBy: "id", after, limit: PAGE })
    yield* page
    if (page.length < PAGE) return
    after = { at: null, id: page.at(-1)!.id }
  }
}

/** Those of these ids that are stored. */
export async function schedulesOf(
  store: Store,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Schedule>> {
  const found = new Map<string, Schedule>()
  for (let from = 0; from < ids.length; from += PAGE) {
    const some = { ids: ids.slice(from, from + PAGE) }
    for (const schedule of await store.findSchedules(some, { orderBy: "id", after: null, limit: PAGE }))
      found.set(schedule.id, schedule)
  }
  return found
}
