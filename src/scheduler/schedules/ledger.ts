import { checked, type OptionSource, type OptionType } from "../../core/options/checked.ts"
import { PAGE } from "../../core/options/limits.ts"
import { choice, oneOrMore } from "../../core/options/option-types.ts"
import { latenessMs } from "../../core/run/lateness.ts"
import type { RunState, TriggeredBy } from "../../core/run/run.ts"
import { RUN_STATES } from "../../core/run/run-states.ts"
import type { RunSummary } from "../../core/run/run-summary.ts"
import type { Store } from "../../store/store.ts"
import { cursor as cursorOption, isInstantPlace, type Listing, listing } from "../listing.ts"
import { requireSchedule } from "./change-schedule.ts"
import type { ScheduleParts } from "./schedule-parts.ts"

/** The outcome of an occurrence and the reason. Answers "why didn't it run?". */
export interface LedgerEntry {
  readonly scheduledFor: Date
  /** If the record stands for several occurrences: the first of them, and how many. 10,000 means 10,000 or more. */
  readonly from: Date | null
  readonly count: number
  readonly outcome: RunState
  /** For a skip: `overlap`, `paused`, `missed`, …. For a cancelled run: the reason of the cancellation. */
  readonly reason: string | null
  readonly message: string | null
  readonly runId: string
  readonly triggeredBy: TriggeredBy
  /** The time from due to the start of the first attempt. Null: not started. */
  readonly latenessMs: number | null
  /** How many occurrences this run stands for after an outage, including its own. */
  readonly standsFor: number
}

export interface LedgerPage {
  /** Filters by outcome. This filter has no index: a page may hold fewer entries than `limit` and still have a `next`. */
  readonly outcome?: RunState | readonly RunState[]
  /** The size of a page. Default 50. */
  readonly limit?: number
  /** The `next` of the previous page. */
  readonly cursor?: string
}

export const LEDGER_PAGE = {
  outcome: oneOrMore(choice<RunState>(...RUN_STATES)),
  limit: PAGE,
  cursor: cursorOption(isInstantPlace),
} satisfies Record<keyof LedgerPage, OptionType<unknown>>

const SOURCE: OptionSource = { code: "BELFRY_SCHEDULE_INVALID", subject: "schedules.occurrences" }

export function readLedger(
  { store, declared, ready }: Pick<ScheduleParts, "store" | "declared" | "ready">,
  scheduleId: string,
  page: LedgerPage,
): Listing<LedgerEntry> {
  const { outcome, cursor, limit = 50 } = checked(page, LEDGER_PAGE, SOURCE)
  const name = "occurrences"
  return listing({
    name,
    limit,
    first: cursor?.(name) ?? null,
    async read(after, size) {
      await ready()
      const runs = await store.findRuns({ scheduleId }, { orderBy: "scheduledFor", after, limit: size })
      // A deleted schedule's history can still be read. A local schedule isn't stored.
      if (runs.length === 0 && after === null && !declared.has(scheduleId))
        await requireSchedule(store, scheduleId)
      const attempts = await firstAttemptsOf(store, runs)
      return runs.map((run) => ({ run, attempt: attempts.get(run.id) ?? run }))
    },
    ...(outcome === undefined ? {} : { matches: ({ run }) => outcome.includes(run.state) }),
    placeOf: ({ run }) => ({ at: run.scheduledFor!, id: run.id }),
    show: ({ run, attempt }) => entryOf(run, attempt),
  })
}

type FirstAttempt = Pick<RunSummary, "dueAt" | "startedAt">

/** The first attempts of runs with more than one attempt. A summary only has the newest. */
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
