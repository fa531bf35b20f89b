import type { Lint } from "../../core/cron/lint.ts"
import { checked } from "../../core/options/checked.ts"
import { PAGE } from "../../core/options/limits.ts"
import { afterNextPlan } from "../../core/planning/next-plan.ts"
import { type Counters, subjectOfSchedule, subjectOfTask } from "../../core/records/statistics.ts"
import type { Schedule } from "../../core/schedule/schedule.ts"
import { lintsOfSchedule, shortestGapOf } from "../../core/schedule/schedule-lints.ts"
import { ACTIVE_STATES } from "../../core/schedule/schedule-state.ts"
import type { Instant } from "../../core/time/instant.ts"
import type { Store } from "../../store/store.ts"
import { cursor as cursorOption, isMaybeInstantPlace, type Listing, listing } from "../listing.ts"
import { atLeastMs, countInMinute, factsFrom, minuteOf, weekOf } from "./lint-facts.ts"
import type { ScheduleParts } from "./schedule-parts.ts"
import { sourceOf } from "./steering-options.ts"

/** The likely mistakes in one schedule. */
export interface ScheduleLints {
  readonly id: string
  readonly lints: readonly Lint[]
}

const LINTS_PAGE = { limit: PAGE, cursor: cursorOption(isMaybeInstantPlace) }

/**
 * The active schedules that have lints, the soonest next run first. Schedules that can't be planned are left out. Each page of
 * schedules takes up to three reads, and one more for each schedule whose runs may overlap.
 */
export function listLints(
  { store, ready }: ScheduleParts,
  page: { limit?: number; cursor?: string },
): Listing<ScheduleLints> {
  const { cursor, limit = 50 } = checked(page, LINTS_PAGE, sourceOf("listLints"))
  const name = "lints"
  const minutes = new SharedMinutes(store)
  const durations = new Durations(store)
  return listing({
    name,
    limit,
    first: cursor?.(name) ?? null,
    read: async (after, size) => {
      await ready()
      const page = { orderBy: "nextRunAt", after, limit: size } as const
      const schedules = await store.findSchedules({ states: ACTIVE_STATES }, page)
      const now = await store.now()
      const sharing = await minutes.countsOf(schedules)
      const found: { schedule: Schedule; lints: readonly Lint[] }[] = []
      for (const schedule of schedules)
        found.push({ schedule, lints: await lintsOf(schedule, { durations, sharing, now }) })
      return found
    },
    placeOf: ({ schedule }) => ({ at: schedule.nextRunAt, id: schedule.id }),
    matches: ({ lints }) => lints.length > 0,
    show: ({ schedule, lints }) => ({ id: schedule.id, lints }),
  })
}

async function lintsOf(
  schedule: Schedule,
  about: { durations: Durations; sharing: ReadonlyMap<Instant, number>; now: Instant },
): Promise<readonly Lint[]> {
  const { durations, sharing, now } = about
  // A timetable that can't be read can't be linted.
  if (afterNextPlan(schedule).lastError !== null) return []
  const { nextRunAt } = schedule
  const facts = factsFrom(schedule, {
    counters: await durations.countersOf(schedule, now),
    sharing: nextRunAt === null ? null : (sharing.get(minuteOf(nextRunAt)) ?? null),
  })
  return lintsOfSchedule(schedule, now, facts)
}

/** Counts the schedules that run next in each minute of a page. */
class SharedMinutes {
  readonly #store: Store
  /** The last minute of a page is often the first of the next page. */
  #last: { readonly minute: Instant; readonly count: number } | null = null

  constructor(store: Store) {
    this.#store = store
  }

  async countsOf(page: readonly Schedule[]): Promise<ReadonlyMap<Instant, number>> {
    const counts = new Map<Instant, number>()
    for (const { nextRunAt } of page) {
      if (nextRunAt === null) break
      const minute = minuteOf(nextRunAt)
      counts.set(minute, (counts.get(minute) ?? 0) + 1)
    }
    // Other pages may have more schedules of the first and of the last minute.
    const minutes = [...counts.keys()]
    for (const minute of new Set([minutes[0], minutes.at(-1)]))
      if (minute !== undefined) counts.set(minute, await this.#count(minute))
    return counts
  }

  async #count(minute: Instant): Promise<number> {
    if (this.#last?.minute !== minute)
      this.#last = { minute, count: await countInMinute(this.#store, minute) }
    return this.#last.count
  }
}

/**
 * Reads the statistics of a schedule only if its runs may last longer than the time between its occurrences. The statistics of
 * its task show this, and are read once per task.
 */
class Durations {
  readonly #store: Store
  readonly #slowestMs = new Map<string, Promise<number>>()

  constructor(store: Store) {
    this.#store = store
  }

  async countersOf(schedule: Schedule, now: Instant): Promise<Counters> {
    const { id, task, overlap } = schedule
    const gapMs = overlap.policy === "skip" ? shortestGapOf(schedule, now) : null
    const mayOverrun = gapMs !== null && (await this.#slowestOf(task, now)) > gapMs
    return mayOverrun ? weekOf(this.#store, subjectOfSchedule(id), now) : {}
  }

  #slowestOf(task: string, now: Instant): Promise<number> {
    const known = this.#slowestMs.get(task)
    if (known !== undefined) return known
    const read = weekOf(this.#store, subjectOfTask(task), now).then((week) => atLeastMs(week, 1) ?? 0)
    this.#slowestMs.set(task, read)
    return read
  }
}
