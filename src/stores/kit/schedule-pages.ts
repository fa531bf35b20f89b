import type { Schedule } from "../../core/schedule/schedule.ts"
import { scheduleStateOf } from "../../core/schedule/schedule-state.ts"
import type { Instant } from "../../core/time/instant.ts"
import type { ScheduleFilter, SchedulePage } from "../../store/store.ts"

/** Pages of schedules, for stores that filter and order them in memory. */

export function isWantedSchedule(schedule: Schedule, filter: ScheduleFilter, now: Instant): boolean {
  const { ids, idPrefix, owner, task, tag, text, states } = filter
  return (
    (ids === undefined || ids.includes(schedule.id)) &&
    (idPrefix === undefined || schedule.id.startsWith(idPrefix)) &&
    (owner === undefined || schedule.owner === owner) &&
    (task === undefined || schedule.task === task) &&
    (tag === undefined || schedule.tags.includes(tag)) &&
    (text === undefined || isTextIn(schedule, text)) &&
    (states === undefined || states.includes(scheduleStateOf(schedule, now)))
  )
}

function isTextIn({ id, task, description }: Schedule, text: string): boolean {
  const wanted = lowerCase(text)
  return [id, task, description].some((part) => lowerCase(part).includes(wanted))
}

/** Changes ASCII letters only, as databases do in every locale. */
export function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

export function pageOfSchedules(schedules: readonly Schedule[], page: SchedulePage): readonly Schedule[] {
  const { orderBy } = page
  const places = schedules.map((schedule) => ({
    id: schedule.id,
    at: orderBy === "id" ? null : schedule[orderBy],
    schedule,
  }))
  return pageOfPlaces(places, page).map(({ schedule }) => schedule)
}

/** The id of a schedule, and the instant that orders it. */
export interface SchedulePlace {
  readonly id: string
  readonly at: Instant | null
}

export function pageOfPlaces<Place extends SchedulePlace>(
  places: readonly Place[],
  { orderBy, after, limit }: SchedulePage,
): readonly Place[] {
  const compare = (a: SchedulePlace, b: SchedulePlace) => {
    const [first, second] = [rankOf(orderBy, a.at), rankOf(orderBy, b.at)]
    if (first !== second) return first < second ? -1 : 1
    // Ids are ASCII, so JavaScript orders them by their bytes.
    return a.id === b.id ? 0 : a.id < b.id ? -1 : 1
  }
  return places
    .filter((place) => after === null || compare(place, after) > 0)
    .sort(compare)
    .slice(0, limit)
}

/** Soonest next run first, or newest last run first. Schedules without that instant come last. */
function rankOf(orderBy: SchedulePage["orderBy"], at: Instant | null): number {
  if (orderBy === "id") return 0
  if (at === null) return Number.POSITIVE_INFINITY
  return orderBy === "nextRunAt" ? at : -at
}
