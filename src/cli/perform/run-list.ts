import type { Client } from "../../scheduler/client.ts"
import type { RunQuery } from "../../scheduler/runs/run-options.ts"
import type { RunSummaryView } from "../../scheduler/views.ts"
import type { ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { readRuns, runFilterOf } from "../parsing/run-filter.ts"
import { formatOf, hint, jsonLine, pickedFrom, showAll } from "../printing/output.ts"
import { runRows } from "../printing/run-rows.ts"
import { withScheduler } from "../session/session.ts"
import { untilInterrupted } from "../terminal/waiting.ts"

/** Only the newest runs are watched for changes. */
const WATCHED_MAX = 200

export async function listRuns(call: Call): Promise<ExitCode | undefined> {
  const { flags } = call
  const limit = flags.whole("limit", { max: 100_000 }) ?? 50
  const filter = runFilterOf(call)
  return withScheduler(call, async ({ scheduler }) => {
    const runs = await readRuns(scheduler, filter, limit)
    if (!flags.isOn("watch")) {
      await showAll(call, runs, runRows(call))
      return undefined
    }
    return watchRuns(call, scheduler, runs, filter)
  })
}

/** A line for each run that is new or has changed, oldest first. */
async function watchRuns(
  call: Call,
  scheduler: Client,
  first: readonly RunSummaryView[],
  filter: RunQuery,
): Promise<ExitCode> {
  const seen = new Map<string, string>()
  const printChanged = async (runs: readonly RunSummaryView[]) => {
    const changed = [...runs].reverse().filter((run) => seen.get(run.id) !== stampOf(run))
    for (const run of changed) seen.set(run.id, stampOf(run))
    if (changed.length === 0) return
    if (formatOf(call) === "json" || formatOf(call) === "jsonl")
      for (const run of pickedFrom(call, changed)) call.io.out(jsonLine(run))
    else await showAll({ ...call, flags: call.flags.with({ headers: false }) }, changed, runRows(call))
  }
  await printChanged(first)
  hint(call, "Watching. Press Ctrl-C to stop.")
  return untilInterrupted(call, 1_000, async () => {
    await printChanged(await readRuns(scheduler, filter, WATCHED_MAX))
    return null
  })
}

function stampOf(run: RunSummaryView): string {
  return `${run.state} ${run.attempt}`
}
