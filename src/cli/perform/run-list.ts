import type { RunQuery } from "../../scheduler/runs.ts"
import type { Scheduler } from "../../scheduler/scheduler.ts"
import type { RunView } from "../../scheduler/views.ts"
import type { Call } from "../command.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import { formatOf, hint, jsonLine, showAll } from "../output.ts"
import { Refusal } from "../refusal.ts"
import { runRows } from "../run-rows.ts"
import { withScheduler } from "../session.ts"
import { parseTime } from "../times.ts"
import { untilInterrupted } from "../waiting.ts"

const STATES = ["pending", "running", "succeeded", "failed", "cancelled", "skipped"] as const

export async function listRuns(call: Call): Promise<ExitCode | undefined> {
  const { flags } = call
  const limit = flags.whole("limit", { max: 100_000 }) ?? 50
  const isWanted = filterOf(call)
  return withScheduler(call, async ({ scheduler }) => {
    const runs = await readRuns(scheduler, { query: queryOf(call), limit, ...isWanted })
    if (!flags.isOn("watch")) {
      await showAll(call, runs, runRows(call))
      return undefined
    }
    return watchRuns(call, scheduler, runs)
  })
}

function queryOf({ flags }: Call): RunQuery {
  const [schedule, task, state] = [flags.text("schedule"), flags.text("task"), flags.choice("status", STATES)]
  return {
    ...(schedule === undefined ? {} : { schedule }),
    ...(task === undefined ? {} : { task }),
    ...(state === undefined ? {} : { state }),
  }
}

interface Wanted {
  readonly since: number
  readonly error: RegExp | null
}

/** `--since 24h` means the last 24 hours; any time is understood, too. */
function filterOf({ flags, io }: Call): Wanted {
  const text = flags.text("since")
  const isDuration = text !== undefined && /^\d+(\.\d+)?(ms|s|m|h|d|w)/.test(text)
  const now = io.clock.now()
  const since =
    text === undefined
      ? Number.NEGATIVE_INFINITY
      : parseTime(isDuration ? `-${text}` : text, "--since", { now, zone: io.zone }).instant
  return { since, error: patternOf(flags.text("error")) }
}

function patternOf(text: string | undefined): RegExp | null {
  if (text === undefined) return null
  try {
    return new RegExp(text, "i")
  } catch (cause) {
    throw new Refusal(
      EXIT.usage,
      `--error ${JSON.stringify(text)} is not a regular expression.`,
      "Escape it, or use plain words.",
      cause,
    )
  }
}

/** How many it looks through for a rare one. */
const SEARCHED_MAX = 20_000

async function readRuns(
  scheduler: Scheduler,
  { query, limit, since, error }: Wanted & { query: RunQuery; limit: number },
): Promise<readonly RunView[]> {
  const found: RunView[] = []
  let before: RunView | undefined
  for (let searched = 0; searched < SEARCHED_MAX && found.length < limit; ) {
    const size = error === null ? Math.min(limit - found.length, 1_000) : 1_000
    const page = await scheduler.runs.list({
      ...query,
      limit: size,
      ...(before === undefined ? {} : { before }),
    })
    const recent = page.filter(({ createdAt }) => createdAt.getTime() >= since)
    found.push(...recent.filter((run) => error === null || error.test(run.error ?? "")))
    if (page.length < size || recent.length < page.length) break
    before = page[page.length - 1]!
    searched += page.length
  }
  return found.slice(0, limit)
}

/** A line for each run that is new or has changed, oldest first. */
async function watchRuns(call: Call, scheduler: Scheduler, first: readonly RunView[]): Promise<ExitCode> {
  const seen = new Map<string, string>()
  const tell = async (runs: readonly RunView[]) => {
    const changed = [...runs].reverse().filter((run) => seen.get(run.id) !== stampOf(run))
    for (const run of changed) seen.set(run.id, stampOf(run))
    if (changed.length === 0) return
    if (formatOf(call) === "json" || formatOf(call) === "jsonl")
      for (const run of changed) call.io.out(jsonLine(run))
    else await showAll({ ...call, flags: call.flags.with({ headers: false }) }, changed, runRows(call))
  }
  await tell(first)
  hint(call, "Watching; Ctrl-C ends it.")
  return untilInterrupted(call, 1_000, async () => {
    await tell(await scheduler.runs.list({ ...queryOf(call), limit: 200 }))
    return null
  })
}

function stampOf(run: RunView): string {
  return `${run.state} ${run.attempt}`
}
