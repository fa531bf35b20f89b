import type { Schedule, ScheduleFilter, SchedulePage, Store } from "belfry/store"
import { OVERDUE_AFTER_MS, type ScheduleState, scheduleStateOf } from "../../../src/core/schedule-state.ts"
import { isWantedSchedule, pageOfSchedules } from "../../../src/stores/kit/schedule-pages.ts"
import { type Bug, broken } from "./breaking.ts"

/** Finds among all schedules, in its own way. */
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

/** As a sound store would, but for the states, which are told in this way. */
function telling(stateOf: (schedule: Schedule, now: number) => ScheduleState): Bug {
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

/** As a sound store would, but for the text, which is looked for in this way. */
function lookingFor(isIn: (schedule: Schedule, text: string) => boolean): Bug {
  return finding((all, { filter: { text, ...filter }, page, now }) =>
    pageOfSchedules(
      all.filter(
        (schedule) => isWantedSchedule(schedule, filter, now) && (text === undefined || isIn(schedule, text)),
      ),
      page,
    ),
  )
}

/** A sound filter; the order is another one, in which a page begins behind its place. */
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
  broken(9, "states are not looked at", (store) => ({
    findSchedules: ({ states: _, ...filter }, page) => store.findSchedules(filter, page),
  })),
  broken(9, "no state at all is every state", (store) => ({
    findSchedules: ({ states, ...filter }, page) =>
      store.findSchedules(states?.length ? { ...filter, states } : filter, page),
  })),
  broken(
    9,
    "a paused schedule that failed is failing",
    telling((schedule, now) =>
      schedule.failuresInARow > 0 && schedule.paused !== null ? "failing" : scheduleStateOf(schedule, now),
    ),
  ),
  broken(
    9,
    "a disabled schedule that is paused, too, is paused",
    telling((schedule, now) => scheduleStateOf({ ...schedule, enabled: true }, now)),
  ),
  broken(
    9,
    "a schedule that can't be planned is only disabled",
    telling((schedule, now) => scheduleStateOf({ ...schedule, lastError: null }, now)),
  ),
  broken(
    9,
    "a finished schedule is only disabled",
    telling((schedule, now) => scheduleStateOf({ ...schedule, finishedAt: null }, now)),
  ),
  broken(
    9,
    "a schedule is overdue as soon as it is due",
    telling((schedule, now) => scheduleStateOf(schedule, now + OVERDUE_AFTER_MS)),
  ),
  broken(
    9,
    "a schedule is overdue by another clock",
    telling((schedule, now) => scheduleStateOf(schedule, now - 10_000)),
  ),
  broken(
    9,
    "a schedule that never ran is all right",
    telling((schedule, now) => scheduleStateOf({ ...schedule, lastRunAt: schedule.lastRunAt ?? 0 }, now)),
  ),
  broken(
    9,
    "a text is a pattern",
    lookingFor((schedule, text) => {
      const pattern = lower(text).replace(/[\\"]/g, "\\$&").replaceAll("%", ".*").replaceAll("_", ".")
      return textsOf(schedule).some((part) => new RegExp(pattern, "i").test(lower(part)))
    }),
  ),
  broken(
    9,
    "a text is a regular expression",
    lookingFor((schedule, text) =>
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
    "a text is found in its own case only",
    lookingFor((schedule, text) => textsOf(schedule).some((part) => part.includes(text))),
  ),
  broken(
    9,
    "letters that aren't ASCII have no case either",
    lookingFor((schedule, text) => textsOf(schedule).some((part) => lower(part).includes(lower(text)))),
  ),
  ...(["id", "task", "description"] as const).map((left) =>
    broken(
      9,
      `a text is not looked for in the ${left}`,
      lookingFor((schedule, text) =>
        textsOf({ ...schedule, [left]: "" }).some((part) => lower(part).includes(lower(text))),
      ),
    ),
  ),
  broken(9, "the beginning of an id is not looked at", (store) => ({
    findSchedules: ({ idPrefix: _, ...filter }, page) => store.findSchedules(filter, page),
  })),
  broken(
    9,
    "an id has the beginning anywhere",
    finding((all, { filter: { idPrefix, ...filter }, page, now }) =>
      pageOfSchedules(
        all.filter((each) => isWantedSchedule(each, filter, now) && each.id.includes(idPrefix ?? "")),
        page,
      ),
    ),
  ),
  broken(
    9,
    "the beginning of an id has no case",
    finding((all, { filter: { idPrefix, ...filter }, page, now }) =>
      pageOfSchedules(
        all.filter(
          (each) => isWantedSchedule(each, filter, now) && lower(each.id).startsWith(lower(idPrefix ?? "")),
        ),
        page,
      ),
    ),
  ),
  broken(9, "every order is that of ids", (store) => ({
    findSchedules: (filter, page) => store.findSchedules(filter, { ...page, orderBy: "id" }),
  })),
  broken(
    9,
    "whoever has no next or last run comes first",
    ordering((schedule, orderBy) => {
      const at = instantOf(schedule, orderBy)
      if (at === null) return Number.NEGATIVE_INFINITY
      return orderBy === "nextRunAt" ? at : -at
    }),
  ),
  broken(
    9,
    "whoever runs last comes first",
    ordering((schedule, orderBy) => -(instantOf(schedule, orderBy) ?? Number.NEGATIVE_INFINITY)),
  ),
  broken(
    9,
    "whoever ran first comes first",
    ordering((schedule, orderBy) => instantOf(schedule, orderBy) ?? Number.POSITIVE_INFINITY),
  ),
  broken(9, "a page by an instant begins behind all of that instant", (store) => ({
    async findSchedules(filter, page) {
      const { after, orderBy } = page
      const found = await store.findSchedules(filter, page)
      if (orderBy === "id" || after === null) return found
      return found.filter((schedule) => instantOf(schedule, orderBy) !== after.at || after.at === null)
    },
  })),
  broken(9, "a page by an instant leaves out those without it", (store) => ({
    async findSchedules(filter, page) {
      const found = await store.findSchedules(filter, page)
      return found.filter((each) => page.orderBy === "id" || instantOf(each, page.orderBy) !== null)
    },
  })),
]
