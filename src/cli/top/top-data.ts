import type { Client } from "../../scheduler/client.ts"
import type { Overview } from "../../scheduler/overview.ts"
import type { RunSummaryView, ScheduleView } from "../../scheduler/views.ts"
import { spanWords } from "../printing/time-words.ts"
import { allSchedules } from "../session/lookups.ts"
import type { Io } from "../terminal/io.ts"
import { ordered } from "./schedule-order.ts"
import type { TopRow, TopState } from "./top-keys.ts"

/** What there is, read at one moment. */
export interface TopData {
  readonly now: number
  readonly storeMs: number
  readonly overview: Overview
  /** Those being performed, then those that wait. */
  readonly unfinished: readonly RunSummaryView[]
  readonly recent: readonly RunSummaryView[]
  readonly schedules: readonly ScheduleView[]
}

const SCHEDULES_MAX = 500
const UNFINISHED_MAX = 100
/** As many as tell what is typical. */
const RECENT_MAX = 200

export async function look(scheduler: Client, io: Io): Promise<TopData> {
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
  const schedules = await allSchedules(scheduler, {}, SCHEDULES_MAX)
  const overview = await scheduler.overview()
  return {
    now: io.clock.now(),
    storeMs,
    overview,
    unfinished: [...running, ...pending],
    recent,
    schedules,
  }
}

/** What of it is to be seen, in order. */
export interface TopSections {
  readonly unfinished: readonly TopRow[]
  readonly schedules: readonly TopRow[]
  readonly recent: readonly TopRow[]
}

export function sectionsOf(sight: TopData, { filter, sort }: TopState): TopSections {
  const wanted = filter.toLowerCase()
  const matches = (...texts: readonly string[]) => texts.some((text) => text.toLowerCase().includes(wanted))
  const runs = (found: readonly RunSummaryView[]) =>
    found.filter(({ id, task }) => matches(id, task)).map(rowOfRun)
  return {
    unfinished: runs(sight.unfinished),
    schedules: ordered(
      sight.schedules.filter(({ id, task, tags }) => matches(id, task, ...tags)),
      sort,
    ).map((schedule) => ({ name: `schedule ${schedule.id}`, run: null, schedule })),
    recent: runs(sight.recent),
  }
}

function rowOfRun(run: RunSummaryView): TopRow {
  return { name: `run ${run.id}`, run, schedule: null }
}

export function rowsOf({ unfinished, schedules, recent }: TopSections): readonly TopRow[] {
  return [...unfinished, ...schedules, ...recent]
}

/** How long runs of the same schedule and task took lately: the middle one of at least three that succeeded. */
export function typicalMs({ recent }: TopData, { scheduleId, task }: RunSummaryView): number | null {
  const took = recent
    .filter((run) => run.state === "succeeded" && run.scheduleId === scheduleId && run.task === task)
    .flatMap(({ durationMs }) => (durationMs === null ? [] : [durationMs]))
    .sort((a, b) => a - b)
  return took.length < 3 ? null : took[Math.floor(took.length / 2)]!
}

/** What somebody should see to, worst first. */
export function attentionOf({ overview, now }: TopData): readonly string[] {
  const { broken, overdue, unofferedTasks, stuck, waiting, silentWorkers } = overview.attention
  return [
    ...broken.map(({ id, lastError }) => `${id} can't be planned: ${lastError}`),
    ...overdue.map(
      ({ id, nextRunAt }) =>
        `${id} was due ${spanWords(now - nextRunAt!.getTime())} ago and has not been fired`,
    ),
    ...unofferedTasks.map((task) => `no worker offers ${task}`),
    ...stuck.map(({ id }) => `${id} was held by a worker that is gone, and nobody takes it over`),
    ...waiting.map(({ id, task }) => `${id} could have begun long ago; does a worker offer ${task}?`),
    ...silentWorkers.map(
      ({ id, silentForMs }) => `worker ${id} has been silent for ${spanWords(silentForMs!)}`,
    ),
  ]
}
