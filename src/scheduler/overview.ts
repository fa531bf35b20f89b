import type { RunCounts } from "../core/run/run-states.ts"
import {
  ACTIVE_STATES,
  OVERDUE_AFTER_MS,
  type ScheduleCounts,
  type ScheduleState,
} from "../core/schedule/schedule-state.ts"
import { type Instant, MINUTE } from "../core/time/instant.ts"
import type { Client } from "./client.ts"
import { collected } from "./listing.ts"
import { isOnline, isWorker } from "./online-workers.ts"
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
  /** Tasks that no online worker offers, of the 1,000 active schedules that run next. */
  readonly unofferedTasks: readonly string[]
  /** Runs whose lease ended more than two minutes ago and that no worker has claimed since. */
  readonly stuck: readonly RunSummaryView[]
  /** Pending runs that have been claimable for more than five minutes. */
  readonly waiting: readonly RunSummaryView[]
  /** Processes of any role that missed the time they announced for their next heartbeat. */
  readonly silentWorkers: readonly WorkerView[]
}

/** A run that has been claimable for longer than this needs attention. */
const WAITING_AFTER_MS = 5 * MINUTE
const SHOWN_MAX = 10
/** The limit of a read whose result is filtered here, not by the store. */
const READ_MAX = 1_000

export async function overviewOf(client: Omit<Client, "overview">, now: Instant): Promise<Overview> {
  const processes = await collected(client.workers({ limit: READ_MAX }))
  const silent = processes.filter((process) => !isOnline(process))
  const online = processes.filter(isOnline).filter(isWorker)
  const offered = new Set(online.flatMap(({ tasks }) => tasks))
  return {
    at: new Date(now),
    schedules: await client.schedules.count(),
    runs: await client.runs.count(),
    workers: {
      ...{ online: online.length, silent: silent.filter(isWorker).length },
      slots: sumOf(online, ({ slots }) => slots),
      running: sumOf(online, ({ running }) => running),
    },
    attention: {
      broken: await schedulesIn(client, "broken"),
      overdue: await schedulesIn(client, "overdue"),
      failing: await schedulesIn(client, "failing"),
      unofferedTasks: await unoffered(client, offered),
      stuck: (await claimableBefore(client, "running", now - OVERDUE_AFTER_MS)).slice(0, SHOWN_MAX),
      waiting: await waitingBefore(client, now - WAITING_AFTER_MS),
      silentWorkers: silent.slice(0, SHOWN_MAX),
    },
  }
}

async function schedulesIn(
  { schedules }: Pick<Client, "schedules">,
  state: ScheduleState,
): Promise<readonly ScheduleView[]> {
  return (await schedules.list({ state, limit: SHOWN_MAX })).items
}

async function unoffered(
  { schedules }: Pick<Client, "schedules">,
  offered: ReadonlySet<string>,
): Promise<readonly string[]> {
  const { items } = await schedules.list({
    ...{ state: ACTIVE_STATES, order: "nextRunAt", limit: READ_MAX },
  })
  const tasks = new Set(items.map(({ task }) => task))
  return [...tasks].filter((task) => !offered.has(task)).slice(0, SHOWN_MAX)
}

/** Runs created and claimable before that time. */
async function claimableBefore(
  { runs }: Pick<Client, "runs">,
  state: "running" | "pending",
  before: Instant,
): Promise<readonly RunSummaryView[]> {
  const { items } = await runs.list({ state, until: before, limit: READ_MAX })
  const isOld = ({ claimableAt }: RunSummaryView) => claimableAt !== null && claimableAt.getTime() < before
  return items.filter(isOld)
}

/** A released run keeps its `claimableAt`, so its waiting time counts from the end of its last attempt. */
async function waitingBefore(
  client: Pick<Client, "runs">,
  before: Instant,
): Promise<readonly RunSummaryView[]> {
  const waiting: RunSummaryView[] = []
  for (const run of await claimableBefore(client, "pending", before)) {
    const attempts = run.attempt === 0 ? [] : ((await client.runs.get(run.id))?.attempts ?? [])
    const endedAt = attempts.at(-1)?.endedAt.getTime() ?? 0
    if (endedAt < before) waiting.push(run)
    if (waiting.length === SHOWN_MAX) break
  }
  return waiting
}

function sumOf<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0)
}
