import type { Schedule } from "../../core/schedule/schedule.ts"
import type { ScheduleFilter, SchedulePage, Store } from "../../store/store.ts"

/** Reads more schedules than fit on one page. */

const PAGE = 500

/** All schedules that match, page by page, ordered by id: changes made during the reading don't shift the pages. */
export async function* schedulesBy(store: Store, filter: ScheduleFilter): AsyncIterable<Schedule> {
  for (let after: SchedulePage["after"] = null; ; ) {
    const page: readonly Schedule[] = await store.findSchedules(filter, { orderBy: "id", after, limit: PAGE })
    yield* page
    if (page.length < PAGE) return
    after = { at: null, id: page.at(-1)!.id }
  }
}

/** The stored schedules with these ids. */
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
