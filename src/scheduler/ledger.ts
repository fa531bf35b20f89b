import { checked, type Door, type Kind } from "../core/checked.ts"
import { instant, part, required } from "../core/kinds.ts"
import { latenessMs } from "../core/lateness.ts"
import { LOOKUP, PAGE } from "../core/limits.ts"
import type { When } from "../core/options.ts"
import type { RunState, TriggeredBy } from "../core/run.ts"
import type { RunSummary } from "../core/run-summary.ts"
import type { Store } from "../store/store.ts"

/** The ledger: what became of each occurrence, and why. The answer to "why didn't it run?". */
export interface Ledger {
  readonly entries: readonly LedgerEntry[]
  /** Pass it as `before` to read on; null at the end. */
  readonly next: LedgerCursor | null
}

export interface LedgerEntry {
  readonly scheduledFor: Date
  /** For a record that stands for several occurrences: the first of them, and how many (10,000 means at least). */
  readonly from: Date | null
  readonly count: number
  readonly outcome: RunState
  /** `overlap`, `paused`, `missed`, … for a skip; why it was cancelled. */
  readonly reason: string | null
  readonly message: string | null
  readonly runId: string
  readonly triggeredBy: TriggeredBy
  /** How long after it was due its first attempt began; null before. */
  readonly latenessMs: number | null
  /** Occurrences folded into this run after an outage. */
  readonly standsFor: number
}

export interface LedgerCursor {
  readonly scheduledFor: Date
  readonly runId: string
}

export interface LedgerPage {
  readonly before?: LedgerCursor | { readonly scheduledFor: When; readonly runId: string }
  readonly limit?: number
}

export const LEDGER_PAGE = {
  before: part({ scheduledFor: required(instant), runId: required(LOOKUP) }),
  limit: PAGE,
} satisfies Record<keyof LedgerPage, Kind<unknown>>

const DOOR: Door = { code: "BELFRY_SCHEDULE_INVALID", subject: "schedules.occurrences" }

export async function readLedger(store: Store, scheduleId: string, page: LedgerPage): Promise<Ledger> {
  const { before, limit = 50 } = checked(page, LEDGER_PAGE, DOOR)
  const runs = await store.findRuns(
    { scheduleId },
    {
      orderBy: "scheduledFor",
      after: before === undefined ? null : { at: before.scheduledFor, id: before.runId },
      limit,
    },
  )
  const last = runs[runs.length - 1]
  const first = await firstAttemptsOf(store, runs)
  return {
    entries: runs.map((run) => entryOf(run, first.get(run.id) ?? run)),
    next:
      runs.length < limit || last === undefined
        ? null
        : { scheduledFor: new Date(last.scheduledFor!), runId: last.id },
  }
}

type FirstAttempt = Pick<RunSummary, "dueAt" | "startedAt">

/** Of those that were tried again: the others' first attempt is their newest. */
async function firstAttemptsOf(
  store: Store,
  runs: readonly RunSummary[],
): Promise<ReadonlyMap<string, FirstAttempt>> {
  const ids = runs.filter(({ attempt }) => attempt > 1).map(({ id }) => id)
  if (ids.length === 0) return new Map()
  return new Map((await store.readRuns(ids)).map((run) => [run.id, run.attempts[0] ?? run]))
}

function entryOf(run: RunSummary, { dueAt, startedAt }: FirstAttempt): LedgerEntry {
  const { missed } = run
  const isRange = run.state === "skipped" && missed !== null
  return {
    scheduledFor: new Date(run.scheduledFor!),
    from: isRange ? new Date(missed.from) : null,
    count: isRange ? missed.count : 1,
    outcome: run.state,
    reason: run.reason,
    message: run.message ?? run.error?.split("\n")[0] ?? null,
    runId: run.id,
    triggeredBy: run.triggeredBy,
    latenessMs: dueAt === null || startedAt === null ? null : latenessMs({ dueAt, startedAt }, undefined),
    standsFor: isRange ? 0 : 1 + (missed?.count ?? 0),
  }
}
