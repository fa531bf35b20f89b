import { type Instant, MINUTE } from "../core/instant.ts"
import type { RunCounts } from "../core/run-states.ts"
import {
  ACTIVE_STATES,
  OVERDUE_AFTER_MS,
  type ScheduleCounts,
  type ScheduleState,
} from "../core/schedule-state.ts"
import type { Client } from "./client.ts"
import { collected } from "./listing.ts"
import type { RunSummaryView, ScheduleView, WorkerView } from "./views.ts"

/** How it all stands. */
export interface Overview {
  readonly at: Date
  /** By state, each up to 10,000: that number stands for so many or more. */
  readonly schedules: Readonly<ScheduleCounts>
  readonly runs: Readonly<RunCounts>
  readonly workers: {
    readonly online: number
    readonly silent: number
    /** Of those online. */
    readonly slots: number
    readonly running: number
  }
  /** What somebody should see to: at most ten of each. */
  readonly attention: Attention
}

export interface Attention {
  /** Schedules that can't be planned. */
  readonly broken: readonly ScheduleView[]
  /** Schedules that were due more than two minutes ago, and that nobody has fired. */
  readonly overdue: readonly ScheduleView[]
  /** Schedules whose last run failed. */
  readonly failing: readonly ScheduleView[]
  /** Tasks of schedules that come next, and that no worker offers. */
  readonly unofferedTasks: readonly string[]
  /** Runs whose lease ended more than two minutes ago, and that nobody has taken over. */
  readonly stuck: readonly RunSummaryView[]
  /** Runs that could have begun more than five minutes ago. */
  readonly waiting: readonly RunSummaryView[]
  readonly silentWorkers: readonly WorkerView[]
}

/** So long after it could have begun, a run waits for too long. */
const WAITING_AFTER_MS = 5 * MINUTE
const SHOWN_MAX = 10
/** So many are looked at for what no filter finds. */
const LOOKED_AT_MAX = 1_000

export async function overviewOf(client: Omit<Client, "overview">, now: Instant): Promise<Overview> {
  const workers = await collected(client.workers({ limit: LOOKED_AT_MAX }))
  const online = workers.filter(({ silentForMs }) => silentForMs === null)
  const silent = workers.filter(({ silentForMs }) => silentForMs !== null)
  const offered = new Set(online.flatMap(({ tasks }) => tasks))
  return {
    at: new Date(now),
    schedules: await client.schedules.count(),
    runs: await client.runs.count(),
    workers: {
      ...{ online: online.length, silent: silent.length },
      slots: sumOf(online, ({ slots }) => slots),
      running: sumOf(online, ({ running }) => running),
    },
    attention: {
      broken: await schedulesIn(client, "broken"),
      overdue: await schedulesIn(client, "overdue"),
      failing: await schedulesIn(client, "failing"),
      unofferedTasks: await unoffered(client, offered),
      stuck: (await runsSince(client, "running", now - OVERDUE_AFTER_MS)).slice(0, SHOWN_MAX),
      waiting: await waitingSince(client, now - WAITING_AFTER_MS),
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
    ...{ state: ACTIVE_STATES, order: "nextRunAt", limit: LOOKED_AT_MAX },
  })
  const tasks = new Set(items.map(({ task }) => task))
  return [...tasks].filter((task) => !offered.has(task)).slice(0, SHOWN_MAX)
}

/** Those that could have been claimed before that time, and were there then. */
async function runsSince(
  { runs }: Pick<Client, "runs">,
  state: "running" | "pending",
  before: Instant,
): Promise<readonly RunSummaryView[]> {
  const { items } = await runs.list({ state, until: before, limit: LOOKED_AT_MAX })
  const isOld = ({ claimableAt }: RunSummaryView) => claimableAt !== null && claimableAt.getTime() < before
  return items.filter(isOld)
}

/** A run that was given back keeps its old place in the queue: it waits only since its last attempt ended. */
async function waitingSince(
  client: Pick<Client, "runs">,
  before: Instant,
): Promise<readonly RunSummaryView[]> {
  const waiting: RunSummaryView[] = []
  for (const run of await runsSince(client, "pending", before)) {
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
