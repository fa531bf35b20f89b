import type { Client } from "../../scheduler/client.ts"
import type { LogLineView, RunView } from "../../scheduler/views.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { pastTimeOf } from "../parsing/run-filter.ts"
import { hint, jsonLine, paintOf } from "../printing/output.ts"
import { printable, printableLines } from "../printing/printable.ts"
import type { Colour } from "../printing/table.ts"
import { runOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"
import { untilInterrupted } from "../terminal/waiting.ts"

export async function showLogs(call: Call): Promise<ExitCode | undefined> {
  const tail = call.flags.whole("tail", { min: 0 })
  const matches = lineFilterOf(call)
  return withScheduler(call, async ({ scheduler }) => {
    const run = await runOf(scheduler, call.args[0]!)
    const written = await readLog(scheduler, run.id, null)
    const lines = written.filter(matches)
    const shown = tail === undefined ? lines : lines.slice(Math.max(0, lines.length - tail))
    for (const line of shown) call.io.out(formatLine(call, line))
    if (lines.length === 0 && !call.flags.isOn("follow"))
      hint(call, `Run ${run.id} is ${run.state} and has no log lines.`)
    if (!call.flags.isOn("follow")) return undefined
    const last = written.at(-1) ?? null
    const printNew = logPrinter(call, scheduler, run.id, last, matches)
    return untilInterrupted(call, 500, async () => {
      // The run is read before its lines, so the log of a finished run is complete.
      const now = await scheduler.runs.get(run.id)
      await printNew()
      return now === null || isFinished(now) ? EXIT.done : null
    })
  })
}

/** Returns a function that prints the new lines. */
export function logPrinter(
  call: Call,
  scheduler: Client,
  id: string,
  from: Place | null,
  matches: (line: LogLineView) => boolean = () => true,
): () => Promise<void> {
  let after = from
  return async () => {
    for (const line of await readLog(scheduler, id, after)) {
      after = line
      if (matches(line)) call.io.out(formatLine(call, line))
    }
  }
}

export function isFinished({ state }: Pick<RunView, "state">): boolean {
  return state !== "pending" && state !== "running"
}

type Place = Pick<LogLineView, "attempt" | "number">

const PAGE = 1_000
const LINES_MAX = 1_000_000

export async function readLog(
  scheduler: Client,
  id: string,
  from: Place | null,
): Promise<readonly LogLineView[]> {
  const found: LogLineView[] = []
  let after = from
  while (found.length < LINES_MAX) {
    const page = (await scheduler.runs.logs(id, { limit: PAGE, ...(after === null ? {} : { after }) })).items
    found.push(...page)
    if (page.length < PAGE) break
    after = page[page.length - 1]!
  }
  return found
}

const LEVELS = ["debug", "info", "warn", "error"] as const

export function lineFilterOf(call: Call): (line: LogLineView) => boolean {
  const { flags } = call
  const attempt = flags.whole("attempt")
  const since = pastTimeOf(call, "since") ?? Number.NEGATIVE_INFINITY
  const least = LEVELS.indexOf(flags.choice("level", LEVELS) ?? "debug")
  return (line) =>
    (attempt === undefined || line.attempt === attempt) &&
    LEVELS.indexOf(line.level) >= least &&
    line.at.getTime() >= since
}

const COLOURS: Readonly<Record<LogLineView["level"], Colour | null>> = {
  debug: "dim",
  info: null,
  warn: "yellow",
  error: "red",
}

/** Time, attempt, level, message and fields. With `--raw`, only the message, unescaped. */
export function formatLine(call: Call, line: LogLineView): string {
  const { flags } = call
  if (flags.isOn("json")) return jsonLine(line)
  if (flags.isOn("raw")) return `${line.message}\n`
  const paint = paintOf(call)
  const fields = line.fields === null ? "" : ` ${printable(JSON.stringify(line.fields))}`
  const time = line.at.toISOString()
  const message = printableLines(line.message).replaceAll("\n", "\n    ")
  return `${paint("dim", `${time} #${line.attempt}`)} ${paint(COLOURS[line.level], line.level.padEnd(5))} ${message}${paint("dim", fields)}\n`
}
