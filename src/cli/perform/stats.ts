import { DAY } from "../../core/time/instant.ts"
import type { Client } from "../../scheduler/client.ts"
import type { RunStatistics, StatisticsQuery } from "../../scheduler/statistics.ts"
import type { Call } from "../parsing/command.ts"
import { pastTimeOf } from "../parsing/run-filter.ts"
import { type RowFormat, showAll } from "../printing/output.ts"
import { spanWords } from "../printing/time-text.ts"
import { scheduleOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"

/** The statistics of all runs, of a task, of a schedule, or of a bucket of time. */
interface Row extends RunStatistics {
  readonly name: string
}

/** One row per task or schedule and one for all runs. For a single task or schedule, one row per bucket. */
export async function showStats(call: Call): Promise<undefined> {
  const { flags } = call
  const [schedule, task] = [flags.text("schedule"), flags.text("task")]
  const since = pastTimeOf(call, "since")
  const about = since === undefined ? {} : { since }
  await withScheduler(call, async ({ scheduler }) => {
    if (schedule !== undefined) {
      const { id } = await scheduleOf(scheduler, schedule)
      return showAll(call, await bucketsOf(scheduler, { ...about, schedule: id }), statRows("TIME"))
    }
    if (task !== undefined)
      return showAll(call, await bucketsOf(scheduler, { ...about, task }), statRows("TIME"))
    const by = flags.choice("by", ["task", "schedule"]) ?? "task"
    const names =
      by === "task"
        ? await taskNames(scheduler)
        : await scheduleNames(scheduler, since ?? call.io.clock.now() - DAY)
    return showAll(call, await rowsOf(scheduler, { by, names, about }), statRows(by.toUpperCase()))
  })
  return undefined
}

async function bucketsOf(client: Client, query: StatisticsQuery): Promise<readonly Row[]> {
  const { buckets, total } = await client.statistics(query)
  if (buckets.length === 0) return []
  return [...buckets.map(({ at, ...row }) => ({ name: at.toISOString(), ...row })), { name: "all", ...total }]
}

async function taskNames(client: Client): Promise<readonly string[]> {
  return (await client.tasks()).map(({ name }) => name)
}

/** The statistics of each schedule need a read of their own. */
const SCHEDULES_MAX = 1_000

/** The schedules that ran since that time. */
async function scheduleNames({ schedules }: Client, since: number): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { id, lastRunAt } of schedules.list({ order: "lastRunAt", limit: 500 })) {
    if (lastRunAt === null || lastRunAt.getTime() < since || names.length === SCHEDULES_MAX) break
    names.push(id)
  }
  return names.sort()
}

async function rowsOf(
  client: Client,
  { by, names, about }: { by: "task" | "schedule"; names: readonly string[]; about: StatisticsQuery },
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const name of names) {
    const { total } = await client.statistics({ ...about, [by]: name })
    if (countOf(total) > 0) rows.push({ name, ...total })
  }
  const { total } = await client.statistics(about)
  return countOf(total) === 0 ? rows : [...rows, { name: "all", ...total }]
}

function countOf({ succeeded, failed, cancelled, skipped }: RunStatistics): number {
  return succeeded + failed + cancelled + skipped
}

function statRows(header: string): RowFormat<Row> {
  const number = (header: string, of: (row: Row) => number) => ({
    header,
    text: (row: Row) => String(of(row)),
    isRight: true,
  })
  const span = (header: string, of: (row: Row) => number | null) => ({
    header,
    text: (row: Row) => String(of(row) ?? "-"),
    brief: (row: Row) => (of(row) === null ? "" : `≤ ${spanWords(of(row)!)}`),
    isRight: true,
  })
  return {
    columns: [
      { header, text: ({ name }) => name, paint: () => "bold", isId: true },
      number("SUCCEEDED", ({ succeeded }) => succeeded),
      { ...number("FAILED", ({ failed }) => failed), paint: ({ failed }) => (failed > 0 ? "red" : null) },
      { ...number("CANCELLED", ({ cancelled }) => cancelled), dropOrder: 5 },
      { ...number("SKIPPED", ({ skipped }) => skipped), dropOrder: 4 },
      { ...span("P50", ({ duration }) => duration.p50Ms), dropOrder: 2 },
      { ...span("P95", ({ duration }) => duration.p95Ms), dropOrder: 3 },
      { ...span("LATE P95", ({ lateness }) => lateness.p95Ms), dropOrder: 1 },
    ],
    nameOf: ({ name }) => name,
    none: "No runs were counted. Use --since to search further back. Processes write their counters with each heartbeat.",
  }
}
