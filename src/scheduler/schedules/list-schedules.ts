import { checked } from "../../core/options/checked.ts"
import { type Listing, listing } from "../listing.ts"
import type { ScheduleView } from "../views.ts"
import { withEditsPlanned } from "./next-plan.ts"
import { type ScheduleParts, type Viewer, viewerOf } from "./schedule-parts.ts"
import { SCHEDULE_QUERY, type ScheduleQuery, scheduleFilterOf, sourceOf } from "./steering-options.ts"

/** Schedules by id, by next run or by last run. */
export function listSchedules({ store, ready }: ScheduleParts, query: ScheduleQuery): Listing<ScheduleView> {
  const given = checked(query, SCHEDULE_QUERY, sourceOf("list"))
  const { order = "id", limit = 50, cursor } = given
  const name = `schedules by ${order}`
  const first = cursor?.(name) ?? null
  let view: Viewer | null = null
  return listing({
    name,
    limit,
    first,
    read: async (after, size) => {
      await ready()
      // Read once for all pages.
      if (view === null || after === first) view = await viewerOf(store)
      const viewer = view
      const found = await store.findSchedules(scheduleFilterOf(given), {
        orderBy: order,
        after,
        limit: size,
      })
      return found.map((schedule) => ({ schedule, viewer }))
    },
    placeOf: ({ schedule }) => ({ at: order === "id" ? null : schedule[order], id: schedule.id }),
    show: async ({ schedule, viewer }) => viewer(await withEditsPlanned(store, schedule)),
  })
}
