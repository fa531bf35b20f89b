import type { Cron } from "../../core/cron/cron.ts"
import { describeCron } from "../../core/cron/describe.ts"
import { nextOccurrence } from "../../core/cron/search.ts"
import type { Instant } from "../../core/time/instant.ts"
import { lintsOfCron, printLints } from "../checks/lints.ts"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { cronFrom, dstFrom } from "../parsing/cron-flags.ts"
import { flagOf } from "../parsing/flags.ts"
import { parseTime } from "../parsing/times.ts"
import { calendarText } from "../printing/calendar-text.ts"
import { clockNote } from "../printing/clock-notes.ts"
import { type NextRow, nextRows } from "../printing/occurrence-rows.ts"
import { formatOf, hint, isTable, showAll, showRecord } from "../printing/output.ts"

export async function showNext(call: Call): Promise<undefined> {
  const { flags, io } = call
  const id = flags.text("schedule")
  if (id !== undefined) return nextOfStored(call, id)
  const between = flags.list("between")
  // Commander adds the expression of `--between A B EXPRESSION` to the values of `--between`.
  const expression = call.args[0] ?? between[2]
  if (expression === undefined)
    throw new CliError(EXIT.usage, "No expression was given.", `Write it in quotes: belfry next "30 2 * * *"`)
  const zone = flags.text("timezone") ?? "UTC"
  const range = rangeOf(call, between, zone)
  const cron = cronFrom(expression, flags, range.after)
  if (flags.isOn("count")) {
    io.out(`${countIn(cron, range)}\n`)
    return undefined
  }
  const rows = rowsIn(cron, range)
  const lints = lintsOfCron(cron, range.after, dstFrom(flags))
  const words = describeCron(cron)
  if (flags.isOn("ics")) {
    io.out(calendarText(rows, { name: expression, words: `${words} (${zone})`, now: io.clock.now() }))
    return undefined
  }
  const format = formatOf(call)
  if (format === "json" || format === "yaml") {
    const occurrences = rows.map(({ at, note }) => ({ at, note: note === "" ? null : note }))
    await showRecord(call, { expression, words, timezone: zone, viewer: io.zone, occurrences, lints }, format)
    return undefined
  }
  if (isTable(format)) {
    const yours = zone === io.zone ? "" : ` · your zone ${io.zone}`
    hint(call, `${words} · ${zone}${yours}\n`)
  }
  await showAll(call, rows, nextRows(zone, io.zone, io.clock.now()))
  printLints(call, lints)
  return undefined
}

/** The occurrences of a stored schedule, with its skips, moves and pause. Only this case needs a store. */
async function nextOfStored(call: Call, id: string): Promise<undefined> {
  const own = ["timezone", "from", "dayMatch", "dstGap", "dstOverlap", "seed"].find(
    (name) => call.flags.text(name) !== undefined,
  )
  const excluded =
    own ?? (call.flags.isOn("count") ? "count" : call.flags.list("between").length > 0 ? "between" : null)
  if (call.args.length > 0 || excluded !== null)
    throw new CliError(
      EXIT.usage,
      `${excluded === null ? "An expression" : flagOf(excluded)} and --schedule exclude each other.`,
      "A schedule has its own expression and rules, and its occurrences are shown from now on.",
    )
  const { nextOfSchedule } = await import("./schedule-next.ts")
  return nextOfSchedule({ ...call, args: [id] })
}

interface NextRange {
  readonly after: Instant
  readonly until: Instant
  readonly limit: number
}

function rangeOf(call: Call, between: readonly string[], zone: string): NextRange {
  const { flags, io } = call
  const time = (text: string, what: string) => parseTime(text, what, { now: io.clock.now(), zone }).instant
  const isBetween = between.length > 0
  if (isBetween && between.length < 2)
    throw new CliError(EXIT.usage, "--between needs two times.", "Write: --between 2026-01-01 2026-12-31")
  if (flags.isOn("count") && !isBetween)
    throw new CliError(
      EXIT.usage,
      "--count needs --between.",
      "Write: --between 2026-01-01 2026-12-31 --count",
    )
  const limit = flags.whole("limit", { max: 100_000 }) ?? (isBetween ? 1_000 : 10)
  if (!isBetween) {
    const from = flags.text("from")
    // Inclusive: an occurrence at exactly this time counts.
    const after = from === undefined ? io.clock.now() : time(from, "--from") - 1
    return { after, until: Number.POSITIVE_INFINITY, limit }
  }
  const [after, until] = [time(between[0]!, "--between") - 1, time(between[1]!, "--between")]
  if (until < after)
    throw new CliError(EXIT.usage, "The second time of --between is before the first.", "Swap the two times.")
  return { after, until, limit }
}

const COUNT_MAX = 10_000_000

function countIn(cron: Cron, { after, until }: NextRange): number {
  let count = 0
  for (let at = nextOccurrence(cron, after); at !== null && at <= until; at = nextOccurrence(cron, at)) {
    if (++count >= COUNT_MAX)
      throw new CliError(
        EXIT.invalid,
        `There are ${COUNT_MAX} or more occurrences between the two times.`,
        "Choose a shorter range.",
      )
  }
  return count
}

function rowsIn(cron: Cron, { after, until, limit }: NextRange): readonly NextRow[] {
  const rows: NextRow[] = []
  let previous: Instant | null = null
  let at = nextOccurrence(cron, after)
  while (at !== null && at <= until && rows.length < limit) {
    rows.push({ number: rows.length + 1, at: new Date(at), note: clockNote(cron, at, previous) })
    previous = at
    at = nextOccurrence(cron, at)
  }
  return rows
}
