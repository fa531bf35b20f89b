import { COUNT_MAX } from "../core/options/limits.ts"
import type { RunCounts } from "../core/run/run-states.ts"
import { OVERDUE_AFTER_MS, type ScheduleCounts, type ScheduleState } from "../core/schedule/schedule-state.ts"
import { type Instant, MINUTE } from "../core/time/instant.ts"
import type { Store } from "../store/store.ts"
import { type ClaimableRuns, claimableBefore } from "./claimable-runs.ts"
import type { Client } from "./client.ts"
import { collected } from "./listing.ts"
import { isOnline, isWorker, offeredTasks } from "./online-workers.ts"
import { unofferedTasks } from "./tasks.ts"
import type { RunSummaryView, ScheduleView, WorkerView } from "./views.ts"

/** The current counts, and the problems that need attention. */
export interface Overview {
  readonly at: Date
  /** Counts by state. Counting stops at 10,000, so 10,000 means 10,000 or more. */
  readonly schedules: Readonly<ScheduleCounts>
  readonly runs: Readonly<RunCounts>
  /** The processes that perform runs, without those that only fire. */
  readonly workers: {
    readonly online: number
    readonly silent: number
    /** Of the online workers. */
    readonly slots: number
    readonly running: number
  }
  /** Problems that need attention, at most ten of each kind. */
  readonly attention: Attention
}

export interface Attention {
  /** Schedules that can't be planned. */
  readonly broken: readonly ScheduleView[]
  /** Schedules that were due more than two minutes ago and that no process has fired. */
  readonly overdue: readonly ScheduleView[]
  /** Schedules whose last run failed. */
  readonly failing: readonly ScheduleView[]
  /** Tasks of active schedules that no online worker offers. */
  readonly unofferedTasks: readonly string[]
  /** Runs whose lease ended more than two minutes ago and that no worker has claimed since, oldest lease first. */
  readonly stuck: readonly RunSummaryView[]
  /** Pending runs that have been claimable for more than five minutes, longest first. */
  readonly waiting: readonly RunSummaryView[]
  /** Processes of any role that missed the time they announced for their next heartbeat. */
  readonly silentWorkers: readonly WorkerView[]
  /**
   * False: there are so many unfinished runs that not all were read, and `stuck` and `waiting` may lack some. The newest 1,000
   * running and pending runs are read, and then up to 250 of each age.
   */
  readonly areAllRunsRead: boolean
}

/** A run that has been claimable for longer than this needs attention. */
const WAITING_AFTER_MS = 5 * MINUTE
const SHOWN_MAX = 10
const WORKERS_PAGE = 1_000

export async function overviewOf(
  client: Pick<Client, "workers" | "runs" | "schedules">,
  store: Store,
): Promise<Overview> {
  const now = await store.now()
  const processes = await collected(client.workers({ limit: WORKERS_PAGE }))
  const silent = processes.filter((process) => !isOnline(process))
  const online = processes.filter(isOnline).filter(isWorker)
  const stuck = await claimableBefore(client, "running", { before: now - OVERDUE_AFTER_MS, now })
  const waiting = await waitingBefore(client, { before: now - WAITING_AFTER_MS, now })
  const counts = await store.count({ runs: {}, schedules: {}, limit: COUNT_MAX })
  // Such schedules are few or none, and each of these reads looks at every schedule until it has found the number asked for.
  const schedulesIn = async (state: ScheduleState) => {
    const limit = Math.min(SHOWN_MAX, counts.schedules[state])
    return limit === 0 ? [] : (await client.schedules.list({ state, limit })).items
  }
  return {
    at: new Date(now),
    schedules: counts.schedules,
    runs: counts.runs,
    workers: {
      ...{ online: online.length, silent: silent.filter(isWorker).length },
      slots: sumOf(online, ({ slots }) => slots),
      running: sumOf(online, ({ running }) => running),
    },
    attention: {
      broken: await schedulesIn("broken"),
      overdue: await schedulesIn("overdue"),
      failing: await schedulesIn("failing"),
      unofferedTasks: unofferedTasks(counts.tasks, offeredTasks(processes)).slice(0, SHOWN_MAX),
      stuck: stuck.runs.slice(0, SHOWN_MAX),
      waiting: waiting.runs,
      areAllRunsRead: stuck.areAll && waiting.areAll,
      silentWorkers: silent.slice(0, SHOWN_MAX),
    },
  }
}

/** Whole runs are read one by one. */
const ATTEMPTS_READ_MAX = 100

/** A released run keeps its `claimableAt`, so its waiting time counts from the end of its last attempt. */
async function waitingBefore(
  client: Pick<Client, "runs">,
  { before, now }: { before: Instant; now: Instant },
): Promise<ClaimableRuns> {
  const { runs, areAll } = await claimableBefore(client, "pending", { before, now })
  const waiting: RunSummaryView[] = []
  let attemptsRead = 0
  for (const run of runs) {
    if (waiting.length === SHOWN_MAX) break
    if (run.attempt > 0 && ++attemptsRead > ATTEMPTS_READ_MAX) return { runs: waiting, areAll: false }
    if (run.attempt === 0 || (await lastEndOf(client, run.id)) < before) waiting.push(run)
  }
  return { runs: waiting, areAll }
}

/** When the last attempt of a run ended. */
async function lastEndOf({ runs }: Pick<Client, "runs">, id: string): Promise<number> {
  const attempts = (await runs.get(id))?.attempts ?? []
  return attempts.at(-1)?.endedAt.getTime() ?? Number.NEGATIVE_INFINITY
}

function sumOf<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0)
}
