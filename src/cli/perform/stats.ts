import type { RunSummaryView } from "../../scheduler/views.ts"
import type { Call } from "../parsing/command.ts"
import { readRuns, runFilterOf } from "../parsing/run-filter.ts"
import { hint, type Shown, showAll } from "../printing/output.ts"
import { spanWords } from "../printing/time-words.ts"
import { withScheduler } from "../session/session.ts"

const DAY_MS = 86_400_000
const RUNS_MAX = 100_000

/** How the runs of one schedule, or of one task without a schedule, have gone. */
interface Stat {
  readonly name: string
  readonly runs: number
  readonly succeeded: number
  readonly failed: number
  readonly skipped: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly lateP95Ms: number | null
}

export async function showStats(call: Call): Promise<undefined> {
  const { query, error } = runFilterOf(call)
  const since = call.io.clock.now() - DAY_MS
  await withScheduler(call, async ({ scheduler }) => {
    const runs = await readRuns(scheduler, { query: { since, ...query }, error }, RUNS_MAX)
    if (runs.length === RUNS_MAX) hint(call, `Only of the newest ${RUNS_MAX} runs.`)
    const stats = [...grouped(runs)]
      .map(([name, own]) => statOf(name, own))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    await showAll(call, stats, statRows())
  })
  return undefined
}

const nameOf = ({ scheduleId, task }: RunSummaryView) => scheduleId ?? `(${task})`

function grouped(runs: readonly RunSummaryView[]): ReadonlyMap<string, readonly RunSummaryView[]> {
  const found = new Map<string, RunSummaryView[]>()
  for (const run of runs) {
    const own = found.get(nameOf(run))
    if (own === undefined) found.set(nameOf(run), [run])
    else own.push(run)
  }
  return found
}

function statOf(name: string, runs: readonly RunSummaryView[]): Stat {
  const count = (state: RunSummaryView["state"]) => runs.filter((run) => run.state === state).length
  const took = runs.filter(({ state }) => state === "succeeded").flatMap(({ durationMs }) => durationMs ?? [])
  const late = runs.flatMap(({ scheduledFor, attempt, startedAt, triggeredBy }) => {
    const isOnTime = (triggeredBy === "schedule" || triggeredBy === "catchup") && attempt === 1
    return !isOnTime || scheduledFor === null || startedAt === null
      ? []
      : Math.max(0, startedAt.getTime() - scheduledFor.getTime())
  })
  return {
    name,
    runs: runs.length,
    succeeded: count("succeeded"),
    failed: count("failed"),
    skipped: count("skipped"),
    p50Ms: quantile(took, 0.5),
    p95Ms: quantile(took, 0.95),
    lateP95Ms: quantile(late, 0.95),
  }
}

function quantile(values: readonly number[], part: number): number | null {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? null
}

function statRows(): Shown<Stat> {
  const number = (header: string, of: (stat: Stat) => number) => ({
    header,
    text: (stat: Stat) => String(of(stat)),
    isRight: true,
  })
  const span = (header: string, of: (stat: Stat) => number | null) => ({
    header,
    text: (stat: Stat) => String(of(stat) ?? "-"),
    brief: (stat: Stat) => (of(stat) === null ? "" : spanWords(of(stat)!)),
    isRight: true,
  })
  return {
    columns: [
      { header: "SCHEDULE", text: ({ name }) => name, paint: () => "bold", isId: true },
      number("RUNS", ({ runs }) => runs),
      number("SUCCEEDED", ({ succeeded }) => succeeded),
      { ...number("FAILED", ({ failed }) => failed), paint: ({ failed }) => (failed > 0 ? "red" : null) },
      { ...number("SKIPPED", ({ skipped }) => skipped), dropOrder: 4 },
      { ...span("P50", ({ p50Ms }) => p50Ms), dropOrder: 2 },
      { ...span("P95", ({ p95Ms }) => p95Ms), dropOrder: 3 },
      { ...span("LATE P95", ({ lateP95Ms }) => lateP95Ms), dropOrder: 1 },
    ],
    nameOf: ({ name }) => name,
    none: "There were no runs. Look further back with --since.",
  }
}
