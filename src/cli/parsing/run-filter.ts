import { RUN_STATES } from "../../core/run/run-states.ts"
import type { Client } from "../../scheduler/client.ts"
import { collected } from "../../scheduler/listing.ts"
import type { RunQuery } from "../../scheduler/runs/run-options.ts"
import type { RunSummaryView } from "../../scheduler/views.ts"
import type { Call } from "./command.ts"
import { parseTime } from "./times.ts"

const NAMES = ["schedule", "task", "parent", "worker", "status", "since", "until", "error"]

/** True if any filter flag was given. */
export function hasRunFilter({ flags }: Call): boolean {
  return NAMES.some((name) => flags.text(name) !== undefined)
}

/** The query for the filter flags of `run list`, `run retry` and `run cancel`. */
export function runFilterOf(call: Call): RunQuery {
  const { flags } = call
  const parts: { readonly [Name in keyof RunQuery]: RunQuery[Name] | undefined } = {
    schedule: flags.text("schedule"),
    task: flags.text("task"),
    parent: flags.text("parent"),
    worker: flags.text("worker"),
    state: flags.choice("status", RUN_STATES),
    since: pastTimeOf(call, "since"),
    until: pastTimeOf(call, "until"),
    error: flags.text("error"),
  }
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined))
}

/** `--since 24h` means 24 hours ago. Absolute times are accepted, too. */
export function pastTimeOf({ flags, io }: Call, name: "since" | "until"): number | undefined {
  const text = flags.text(name)
  if (text === undefined) return undefined
  const isDuration = /^(\d+(\.\d+)?(ms|s|m|h|d|w)|P)/.test(text)
  const now = io.clock.now()
  return parseTime(isDuration ? `-${text}` : text, `--${name}`, { now, zone: io.zone }).instant
}

const PAGE = 1_000

/** Newest first. */
export async function readRuns(
  { runs }: Client,
  query: RunQuery,
  limit: number,
): Promise<readonly RunSummaryView[]> {
  return collected(runs.list({ ...query, limit: Math.max(1, Math.min(limit, PAGE)) }), limit)
}
