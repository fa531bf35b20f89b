import { RUN_STATES } from "../../core/run-states.ts"
import type { RunQuery } from "../../scheduler/runs/runs.ts"
import type { Scheduler } from "../../scheduler/scheduler.ts"
import type { RunSummaryView } from "../../scheduler/views.ts"
import { EXIT } from "../exit-codes.ts"
import { Refusal } from "../refusal.ts"
import { collected } from "../session/collected.ts"
import type { Call } from "./command.ts"
import { parseTime } from "./times.ts"

/** Which runs, as the flags of `run list` and its like say. */
export interface RunFilter {
  readonly query: RunQuery
  readonly error: RegExp | null
}

const NAMES = ["schedule", "task", "parent", "worker", "status", "since", "until", "error"]

/** Whether any of the flags was given. */
export function hasRunFilter({ flags }: Call): boolean {
  return NAMES.some((name) => flags.text(name) !== undefined)
}

export function runFilterOf(call: Call): RunFilter {
  const { flags } = call
  const parts: { readonly [Name in keyof RunQuery]: RunQuery[Name] | undefined } = {
    schedule: flags.text("schedule"),
    task: flags.text("task"),
    parent: flags.text("parent"),
    worker: flags.text("worker"),
    state: flags.choice("status", RUN_STATES),
    since: pastTimeOf(call, "since"),
    until: pastTimeOf(call, "until"),
  }
  const query = Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined))
  return { query, error: patternOf(flags.text("error")) }
}

/** `--since 24h` means 24 hours ago; any time is understood, too. */
export function pastTimeOf({ flags, io }: Call, name: "since" | "until"): number | undefined {
  const text = flags.text(name)
  if (text === undefined) return undefined
  const isDuration = /^(\d+(\.\d+)?(ms|s|m|h|d|w)|P)/.test(text)
  const now = io.clock.now()
  return parseTime(isDuration ? `-${text}` : text, `--${name}`, { now, zone: io.zone }).instant
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
  { query, error }: RunFilter,
  limit: number,
): Promise<readonly RunSummaryView[]> {
  if (error === null) return collected(scheduler.runs.list({ ...query, limit: Math.min(limit, PAGE) }), limit)
  const searched = await collected(scheduler.runs.list({ ...query, limit: PAGE }), SEARCHED_MAX)
  return searched.filter((run) => error.test(run.error ?? "")).slice(0, limit)
}
