import { readFileSync } from "node:fs"
import { isAbsolute, join } from "node:path"
import type { PriorityOption, RetryOptions, ScheduleOptions } from "../../core/options/options.ts"
import type { ScheduleChanges } from "../../scheduler/schedules/schedule-options.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import { hint } from "../printing/output.ts"
import type { Call } from "./command.ts"
import { dstFrom } from "./cron-flags.ts"
import { flagOf } from "./flags.ts"
import { parseTime } from "./times.ts"

/** The flags of `schedule create` and `schedule set` as options. A flag that is not given has no entry. */
export async function optionsFrom(call: Call, stored: ScheduleView | null): Promise<ScheduleChanges> {
  const { flags } = call
  const timezone = flags.text("timezone")
  const zone = timezone ?? stored?.timezone ?? "UTC"
  const at = (name: string) => instantFlag(call, name, zone)
  const tags = flags.list("tag")
  return compact({
    cron: flags.text("cron"),
    every: flags.duration("every"),
    at: at("at"),
    in: flags.duration("in"),
    dayMatch: flags.choice("dayMatch", ["either", "both"]),
    timezone,
    dst: dstOptions(call, stored),
    payload: await payloadFrom(call),
    description: flags.text("description"),
    tags: tags.length === 0 ? undefined : tags,
    overlap: flags.choice("overlap", ["skip", "queue", "replace", "allow"]),
    catchUp: flags.choice("catchUp", ["once", "none", "all"]),
    timeout: flags.duration("timeout"),
    retry: retryFrom(call, stored),
    priority: priorityFrom(call),
    jitter: flags.duration("jitter"),
    maxRuns: flags.whole("maxRuns"),
    startsAt: at("startsAt"),
    endsAt: at("endsAt"),
    enabled: flags.isOn("enabled") ? true : flags.isOn("disabled") ? false : undefined,
  }) as ScheduleChanges
}

function compact(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/** The time given by a flag, in the zone. Prints which zone was used. */
export function instantFlag(call: Call, name: string, zone: string): Date | undefined {
  const text = call.flags.text(name)
  return text === undefined ? undefined : timeIn(call, text, flagOf(name), zone)
}

export function timeIn(call: Call, text: string, what: string, zone: string): Date {
  const { instant, note } = parseTime(text, what, { now: call.io.clock.now(), zone })
  if (note !== null) hint(call, note)
  return new Date(instant)
}

function dstOptions({ flags }: Call, stored: ScheduleView | null): ScheduleOptions["dst"] {
  const given = dstFrom(flags)
  return Object.keys(given).length === 0 ? undefined : { ...stored?.dst, ...given }
}

function retryFrom({ flags }: Call, stored: ScheduleView | null): RetryOptions | undefined {
  const attempts = flags.whole("attempts", { max: 1_000 })
  const delay = flags.duration("retryDelay")
  if (attempts === undefined && delay === undefined) return undefined
  const now = stored?.retry ?? null
  const before =
    now === null
      ? {}
      : {
          attempts: now.attempts,
          backoff: now.backoff,
          delay: now.baseMs,
          maxDelay: now.maxMs,
          jitter: now.jitter,
        }
  return {
    ...before,
    ...(attempts === undefined ? {} : { attempts }),
    ...(delay === undefined ? {} : { delay }),
  }
}

export function priorityFrom({ flags }: Call): PriorityOption | undefined {
  const text = flags.text("priority")
  if (text === undefined || text === "low" || text === "normal" || text === "high") return text
  return flags.whole("priority", { min: -1_000_000, max: 1_000_000 })
}

/** From JSON text, `@FILE`, or `-` for standard input. */
export async function payloadFrom(call: Call): Promise<unknown> {
  const text = call.flags.text("payload")
  if (text === undefined) return undefined
  const [source, json] = await readPayload(call, text)
  try {
    return JSON.parse(json)
  } catch (cause) {
    // A payload may contain a secret, and the parser's message quotes a part of it.
    const position = cause instanceof Error ? /position \d+/.exec(cause.message)?.[0] : undefined
    throw new CliError(
      EXIT.invalid,
      `The payload ${source} is not JSON${position === undefined ? "" : ` (${position})`}.`,
      `Write JSON in quotes, such as --payload '{"url":"https://example.com"}', or @FILE.`,
    )
  }
}

async function readPayload({ io }: Call, text: string): Promise<readonly [source: string, json: string]> {
  if (text === "-") return ["from standard input", await io.readInput()]
  if (!text.startsWith("@")) return ["of --payload", text]
  const path = text.slice(1)
  try {
    return [`in ${path}`, readFileSync(isAbsolute(path) ? path : join(io.cwd, path), "utf8")]
  } catch (cause) {
    throw new CliError(
      EXIT.notFound,
      `The payload file ${path} can't be read.`,
      "Check the path after @.",
      cause,
    )
  }
}
