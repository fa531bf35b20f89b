import { hashText } from "../../core/values/hash.ts"
import type { Client } from "../../scheduler/client.ts"
import type { LogLineView, RunSummaryView } from "../../scheduler/views.ts"
import { CliError } from "../cli-error.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { pastTimeOf, readRuns, runFilterOf } from "../parsing/run-filter.ts"
import { hint, jsonLine, paintOf } from "../printing/output.ts"
import { cutTo, printable } from "../printing/printable.ts"
import type { Colour } from "../printing/table.ts"
import { allSchedules } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"
import { untilInterrupted } from "../terminal/waiting.ts"
import { formatLine, isFinished, lineFilterOf, readLog } from "./run-logs.ts"

/** The number of runs per read. More could not be followed on a screen. */
const RUNS_MAX = 200
const HOUR_MS = 3_600_000

/** Prints the log lines of many runs in one stream, each with its schedule or task. */
export async function tailLogs(call: Call): Promise<ExitCode | undefined> {
  const tail = call.flags.whole("tail", { min: 0 })
  return withScheduler(call, async ({ scheduler }) => {
    const logTail = new LogTail(call, scheduler, await idsWithTag(call, scheduler))
    const lines = await logTail.read()
    for (const text of lines.slice(tail === undefined ? 0 : Math.max(0, lines.length - tail)))
      call.io.out(text)
    if (!call.flags.isOn("follow")) {
      if (lines.length === 0)
        hint(call, "No log lines found. Use --since to search further back, or -f to wait for new lines.")
      return undefined
    }
    return untilInterrupted(call, 1_000, async () => {
      for (const text of await logTail.read()) call.io.out(text)
      return null
    })
  })
}

/** Null: no tag was given, so runs without a schedule are included. */
async function idsWithTag({ flags }: Call, scheduler: Client): Promise<ReadonlySet<string> | null> {
  const tag = flags.text("tag")
  if (tag === undefined) return null
  const ids = (await allSchedules(scheduler, { tag })).map(({ id }) => id)
  if (ids.length > 0) return new Set(ids)
  throw new CliError(EXIT.notFound, `No schedule has the tag "${tag}".`, "See: belfry schedule list -o wide")
}

/** Keeps the last line read of each run. The complete log of a finished run is not read again. */
class LogTail {
  readonly #call: Call
  readonly #scheduler: Client
  readonly #scheduleIds: ReadonlySet<string> | null
  readonly #since: number
  readonly #matches: (line: LogLineView) => boolean
  readonly #positions = new Map<string, { last: LogLineView | null; isDone: boolean }>()

  constructor(call: Call, scheduler: Client, ids: ReadonlySet<string> | null) {
    this.#call = call
    this.#scheduler = scheduler
    this.#scheduleIds = ids
    this.#since = pastTimeOf(call, "since") ?? call.io.clock.now() - HOUR_MS
    this.#matches = lineFilterOf(call)
  }

  /** The new lines, in the order they were written. */
  async read(): Promise<readonly string[]> {
    const { since: _, ...anyAge } = runFilterOf(this.#call)
    const filter = { ...anyAge, since: this.#since }
    const recent = await readRuns(this.#scheduler, filter, RUNS_MAX)
    // Runs that were created earlier and are still running.
    const running = (await this.#scheduler.runs.list({ ...anyAge, state: "running", limit: RUNS_MAX })).items
    const runs = new Map([...recent, ...running].map((run) => [run.id, run]))
    const found: { run: RunSummaryView; line: LogLineView }[] = []
    for (const run of runs.values()) for (const line of await this.#newLines(run)) found.push({ run, line })
    return found
      .sort((a, b) => a.line.at.getTime() - b.line.at.getTime())
      .map(({ run, line }) => prefixed(this.#call, run, line))
  }

  async #newLines(run: RunSummaryView): Promise<readonly LogLineView[]> {
    if (this.#scheduleIds !== null && !this.#scheduleIds.has(run.scheduleId ?? "")) return []
    const { last, isDone } = this.#positions.get(run.id) ?? { last: null, isDone: false }
    if (isDone || run.state === "pending" || run.state === "skipped") return []
    const lines = await readLog(this.#scheduler, run.id, last)
    this.#positions.set(run.id, { last: lines[lines.length - 1] ?? last, isDone: isFinished(run) })
    return lines.filter((line) => this.#matches(line) && line.at.getTime() >= this.#since)
  }
}

const WIDTH = 24
const COLOURS: readonly Colour[] = ["cyan", "green", "yellow", "blue"]

/** A schedule always has the same colour. */
function prefixed(call: Call, run: RunSummaryView, line: LogLineView): string {
  const name = run.scheduleId ?? run.task
  if (call.flags.isOn("json"))
    return jsonLine({ runId: run.id, scheduleId: run.scheduleId, task: run.task, ...line })
  const colour = COLOURS[hashText(name) % COLOURS.length]!
  return `${paintOf(call)(colour, cutTo(printable(name), WIDTH).padEnd(WIDTH))} ${formatLine(call, line)}`
}
