import type { Client } from "../../scheduler/client.ts"
import type { Overview } from "../../scheduler/overview.ts"
import type { RunStatistics } from "../../scheduler/statistics.ts"
import type { RunSummaryView, ScheduleView } from "../../scheduler/views.ts"
import { spanWords } from "../printing/time-text.ts"
import type { Io } from "../terminal/io.ts"
import type { MeanDurations } from "./mean-durations.ts"
import { ORDERS, ordered } from "./schedule-order.ts"
import type { TopRow, TopState } from "./top-keys.ts"

/** The data of one screen. */
export interface TopData {
  readonly now: number
  readonly storeMs: number
  readonly overview: Overview
  /** The running runs, then the pending runs. */
  readonly unfinished: readonly RunSummaryView[]
  readonly recent: readonly RunSummaryView[]
  /** The ended runs of the last 24 hours, as far as their processes have written their counters. */
  readonly lastDay: RunStatistics
  readonly means: MeanDurations
  /** The first ones in the order of the screen that match its filter. */
  readonly schedules: readonly ScheduleView[]
  /** More schedules match than were read. */
  readonly hasMoreSchedules: boolean
}

/** More than any screen shows. */
export const SCHEDULES_MAX = 200
const UNFINISHED_MAX = 100
const RECENT_MAX = 100

export async function readTopData(
  scheduler: Client,
  io: Io,
  { filter, sort }: Pick<TopState, "filter" | "sort">,
  means: MeanDurations,
): Promise<TopData> {
  const startedAt = io.clock.monotonic()
  const { items: running } = await scheduler.runs.list({ state: "running", limit: UNFINISHED_MAX })
  const storeMs = io.clock.monotonic() - startedAt
  const pending = (await scheduler.runs.list({ state: "pending", limit: UNFINISHED_MAX })).items
  const recent = (
    await scheduler.runs.list({
      state: ["succeeded", "failed", "cancelled", "skipped"],
      limit: RECENT_MAX,
    })
  ).items
  const schedules = await scheduler.schedules.list({
    order: ORDERS[sort],
    ...(filter === "" ? {} : { text: filter }),
    limit: SCHEDULES_MAX,
  })
  const overview = await scheduler.overview()
  const { total: lastDay } = await scheduler.statistics()
  await means.read(scheduler, io, [...running, ...pending])
  return {
    now: io.clock.now(),
    storeMs,
    overview,
    unfinished: [...running, ...pending],
    recent,
    lastDay,
    means,
    schedules: schedules.items,
    hasMoreSchedules: schedules.next !== null,
  }
}

/** The rows of the screen after filtering and sorting. */
export interface TopSections {
  readonly unfinished: readonly TopRow[]
  readonly schedules: readonly TopRow[]
  readonly recent: readonly TopRow[]
}

export function sectionsOf(data: TopData, { filter, sort }: TopState): TopSections {
  const wanted = filter.toLowerCase()
  const matches = (...texts: readonly string[]) => texts.some((text) => text.toLowerCase().includes(wanted))
  const runs = (found: readonly RunSummaryView[]) =>
    found.filter(({ id, task }) => matches(id, task)).map(rowOfRun)
  return {
    unfinished: runs(data.unfinished),
    schedules: ordered(
      data.schedules.filter(({ id, task, description }) => matches(id, task, description)),
      sort,
    ).map((schedule) => ({ name: `schedule ${schedule.id}`, run: null, schedule })),
    recent: runs(data.recent),
  }
}

function rowOfRun(run: RunSummaryView): TopRow {
  return { name: `run ${run.id}`, run, schedule: null }
}

export function rowsOf({ unfinished, schedules, recent }: TopSections): readonly TopRow[] {
  return [...unfinished, ...schedules, ...recent]
}

/** The problems that need attention, worst first. */
export function attentionOf({ overview, now }: TopData): readonly string[] {
  const { broken, overdue, unofferedTasks, stuck, waiting, silentWorkers } = overview.attention
  return [
    ...broken.map(({ id, lastError }) => `${id} can't be planned: ${lastError}`),
    ...overdue.map(
      ({ id, nextRunAt }) =>
        `${id} was due ${spanWords(now - nextRunAt!.getTime())} ago and has not been fired`,
    ),
    ...unofferedTasks.map((task) => `no worker offers ${task}`),
    ...stuck.map(({ id }) => `${id} was held by a worker that is gone, and no worker has taken it over`),
    ...waiting.map(
      ({ id, task }) => `${id} has been waiting for more than 5 min; does a worker offer ${task}?`,
    ),
    ...silentWorkers.map(
      ({ id, silentForMs }) => `process ${id} has been silent for ${spanWords(silentForMs!)}`,
    ),
  ]
}
