import type { Schedule, ScheduleFilter, SchedulePage, Store } from "belfry/store"
import {
  OVERDUE_AFTER_MS,
  type ScheduleState,
  scheduleStateOf,
} from "../../../src/core/schedule/schedule-state.ts"
import { isWantedSchedule, pageOfSchedules } from "../../../src/stores/kit/schedule-pages.ts"
import { type Bug, broken } from "./breaking.ts"

/** Replaces the whole search for schedules. */
function finding(find: (all: readonly Schedule[], about: About) => readonly Schedule[]): Bug {
  return (store) => ({
    async findSchedules(filter, page) {
      const all = await everySchedule(store)
      return find(all, { filter, page, now: await store.now() })
    },
  })
}

interface About {
  readonly filter: ScheduleFilter
  readonly page: SchedulePage
  readonly now: number
}

function everySchedule(store: Store): Promise<readonly Schedule[]> {
  return store.findSchedules({}, { orderBy: "id", after: null, limit: 1_000 })
}

/** Like a sound store, but with another function for the states. */
function withStates(stateOf: (schedule: Schedule, now: number) => ScheduleState): Bug {
  return finding((all, { filter: { states, ...filter }, page, now }) =>
    pageOfSchedules(
      all.filter(
        (schedule) =>
          isWantedSchedule(schedule, filter, now) && (states?.includes(stateOf(schedule, now)) ?? true),
      ),
      page,
    ),
  )
}

/** Like a sound store, but with another search for the text. */
function searching(isIn: (schedule: Schedule, text: string) => boolean): Bug {
  return finding((all, { filter: { text, ...filter }, page, now }) =>
    pageOfSchedules(
      all.filter(
        (schedule) => isWantedSchedule(schedule, filter, now) && (text === undefined || isIn(schedule, text)),
      ),
      page,
    ),
  )
}

/** Like a sound store, but with another order. */
function ordering(keyOf: (schedule: Schedule, orderBy: SchedulePage["orderBy"]) => number): Bug {
  return finding((all, { filter, page, now }) => {
    if (page.orderBy === "id")
      return pageOfSchedules(
        all.filter((each) => isWantedSchedule(each, filter, now)),
        page,
      )
    const ordered = all
      .filter((each) => isWantedSchedule(each, filter, now))
      .toSorted((a, b) => keyOf(a, page.orderBy) - keyOf(b, page.orderBy) || (a.id < b.id ? -1 : 1))
    const start = page.after === null ? 0 : ordered.findIndex(({ id }) => id === page.after!.id) + 1
    return ordered.slice(start, start + page.limit)
  })
}

const lower = (text: string) => text.toLowerCase()
const textsOf = ({ id, task, description }: Schedule) => [id, task, description]
const instantOf = (schedule: Schedule, orderBy: SchedulePage["orderBy"]) =>
  orderBy === "nextRunAt" ? schedule.nextRunAt : schedule.lastRunAt

export const BROKEN_BOUNDED_SCHEDULES = [
  broken(9, "states are no filter", (store) => ({
    findSchedules: ({ states: _, ...filter }, page) => store.findSchedules(filter, page),
  })),
  broken(9, "an empty list of states matches every state", (store) => ({
    findSchedules: ({ states, ...filter }, page) =>
      store.findSchedules(states?.length ? { ...filter, states } : filter, page),
  })),
  broken(
    9,
    "a paused schedule that failed counts as failing",
    withStates((schedule, now) =>
      schedule.failuresInARow > 0 && schedule.paused !== null ? "failing" : scheduleStateOf(schedule, now),
    ),
  ),
  broken(
    9,
    "a disabled and paused schedule counts as paused",
    withStates((schedule, now) => scheduleStateOf({ ...schedule, enabled: true }, now)),
  ),
  broken(
    9,
    "a schedule that can't be planned counts as disabled",
    withStates((schedule, now) => scheduleStateOf({ ...schedule, lastError: null }, now)),
  ),
  broken(
    9,
    "a finished schedule counts as disabled",
    withStates((schedule, now) => scheduleStateOf({ ...schedule, finishedAt: null }, now)),
  ),
  broken(
    9,
    "a schedule is overdue as soon as it is due",
    withStates((schedule, now) => scheduleStateOf(schedule, now + OVERDUE_AFTER_MS)),
  ),
  broken(
    9,
    "a schedule is overdue by another clock",
    withStates((schedule, now) => scheduleStateOf(schedule, now - 10_000)),
  ),
  broken(
    9,
    "a schedule that never ran counts as ok",
    withStates((schedule, now) => scheduleStateOf({ ...schedule, lastRunAt: schedule.lastRunAt ?? 0 }, now)),
  ),
  broken(
    9,
    "a text is a LIKE pattern",
    searching((schedule, text) => {
      const pattern = lower(text).replace(/[\\"]/g, "\\$&").replaceAll("%", ".*").replaceAll("_", ".")
      return textsOf(schedule).some((part) => new RegExp(pattern, "i").test(lower(part)))
    }),
  ),
  broken(
    9,
    "a text is a regular expression",
    searching((schedule, text) =>
      textsOf(schedule).some((part) => {
        try {
          return new RegExp(text, "i").test(part)
        } catch {
          return lower(part).includes(lower(text))
        }
      }),
    ),
  ),
  broken(
    9,
    "a text is compared with case",
    searching((schedule, text) => textsOf(schedule).some((part) => part.includes(text))),
  ),
  broken(
    9,
    "letters outside ASCII are compared without case",
    searching((schedule, text) => textsOf(schedule).some((part) => lower(part).includes(lower(text)))),
  ),
  ...(["id", "task", "description"] as const).map((left) =>
    broken(
      9,
      `a text is not searched in the ${left}`,
      searching((schedule, text) =>
        textsOf({ ...schedule, [left]: "" }).some((part) => lower(part).includes(lower(text))),
      ),
    ),
  ),
  broken(9, "`idPrefix` is no filter for schedules", (store) => ({
    findSchedules: ({ idPrefix: _, ...filter }, page) => store.findSchedules(filter, page),
  })),
  broken(
    9,
    "a schedule's `idPrefix` may be anywhere in the id",
    finding((all, { filter: { idPrefix, ...filter }, page, now }) =>
      pageOfSchedules(
        all.filter((each) => isWantedSchedule(each, filter, now) && each.id.includes(idPrefix ?? "")),
        page,
      ),
    ),
  ),
  broken(
    9,
    "a schedule's `idPrefix` is compared without case",
    finding((all, { filter: { idPrefix, ...filter }, page, now }) =>
      pageOfSchedules(
        all.filter(
          (each) => isWantedSchedule(each, filter, now) && lower(each.id).startsWith(lower(idPrefix ?? "")),
        ),
        page,
      ),
    ),
  ),
  broken(9, "schedules are always ordered by id", (store) => ({
    findSchedules: (filter, page) => store.findSchedules(filter, { ...page, orderBy: "id" }),
  })),
  broken(
    9,
    "schedules without a next or last run come first",
    ordering((schedule, orderBy) => {
      const at = instantOf(schedule, orderBy)
      if (at === null) return Number.NEGATIVE_INFINITY
      return orderBy === "nextRunAt" ? at : -at
    }),
  ),
  broken(
    9,
    "the schedule with the latest next run comes first",
    ordering((schedule, orderBy) => -(instantOf(schedule, orderBy) ?? Number.NEGATIVE_INFINITY)),
  ),
  broken(
    9,
    "the schedule with the oldest last run comes first",
    ordering((schedule, orderBy) => instantOf(schedule, orderBy) ?? Number.POSITIVE_INFINITY),
  ),
  broken(9, "a page ordered by an instant skips the other schedules of the cursor's instant", (store) => ({
    async findSchedules(filter, page) {
      const { after, orderBy } = page
      const found = await store.findSchedules(filter, page)
      if (orderBy === "id" || after === null) return found
      return found.filter((schedule) => instantOf(schedule, orderBy) !== after.at || after.at === null)
    },
  })),
  broken(9, "a page ordered by an instant leaves out schedules without it", (store) => ({
    async findSchedules(filter, page) {
      const found = await store.findSchedules(filter, page)
      return found.filter((each) => page.orderBy === "id" || instantOf(each, page.orderBy) !== null)
    },
  })),
]
