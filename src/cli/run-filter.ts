import type { RunState } from "../core/run.ts"
import { RUN_STATES } from "../core/run-states.ts"
import type { RunQuery } from "../scheduler/runs.ts"
import type { Scheduler } from "../scheduler/scheduler.ts"
import type { RunView } from "../scheduler/views.ts"
import type { Call } from "./command.ts"
import { EXIT } from "./exit-codes.ts"
import { Refusal } from "./refusal.ts"
import { parseTime } from "./times.ts"

/** Which runs, as the flags of `run list` and its like say. */
export interface RunFilter {
  readonly query: RunQuery
  /** Made since then. */
  readonly since: number
  readonly error: RegExp | null
}

const NAMES = ["schedule", "task", "status", "since", "error"]

/** Whether any of the flags was given. */
export function hasRunFilter({ flags }: Call): boolean {
  return NAMES.some((name) => flags.text(name) !== undefined)
}

export function runFilterOf(call: Call): RunFilter {
  const { flags } = call
  const [schedule, task] = [flags.text("schedule"), flags.text("task")]
  const state: RunState | undefined = flags.choice("status", RUN_STATES)
  const query = {
    ...(schedule === undefined ? {} : { schedule }),
    ...(task === undefined ? {} : { task }),
    ...(state === undefined ? {} : { state }),
  }
  return { query, since: sinceOf(call) ?? Number.NEGATIVE_INFINITY, error: patternOf(flags.text("error")) }
}

/** `--since 24h` means the last 24 hours; any time is understood, too. */
export function sinceOf({ flags, io }: Call): number | undefined {
  const text = flags.text("since")
  if (text === undefined) return undefined
  const isDuration = /^(\d+(\.\d+)?(ms|s|m|h|d|w)|P)/.test(text)
  const now = io.clock.now()
  return parseTime(isDuration ? `-${text}` : text, "--since", { now, zone: io.zone }).instant
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
const PAGE = 1_000

/** Newest first. */
export async function readRuns(
  scheduler: Scheduler,
  { query, since, error }: RunFilter,
  limit: number,
): Promise<readonly RunView[]> {
  const found: RunView[] = []
  let before: RunView | undefined
  for (let searched = 0; found.length < limit && (error === null || searched < SEARCHED_MAX); ) {
    const size = error === null ? Math.min(limit - found.length, PAGE) : PAGE
    const from = before === undefined ? {} : { before }
    const page = await scheduler.runs.list({ ...query, limit: size, ...from })
    const recent = page.filter(({ createdAt }) => createdAt.getTime() >= since)
    found.push(...recent.filter((run) => error === null || error.test(run.error ?? "")))
    if (page.length < size || recent.length < page.length) break
    before = page[page.length - 1]!
    searched += page.length
  }
  return found.slice(0, limit)
}
