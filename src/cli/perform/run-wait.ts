import { DURATION_MAX, type Duration } from "../../core/time/duration.ts"
import type { Client } from "../../scheduler/client.ts"
import type { RunSummaryView, RunView } from "../../scheduler/views.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { hint, hintPainted, paintOf, showRecord } from "../printing/output.ts"
import { printable } from "../printing/printable.ts"
import { messageOf, stateColour, stateIcon, tookWords } from "../printing/run-rows.ts"
import { runOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"
import { orInterrupted, untilInterrupted } from "../terminal/waiting.ts"
import { isFinished, logPrinter } from "./run-logs.ts"

export async function watchRun(call: Call): Promise<ExitCode> {
  return withScheduler(call, async ({ scheduler }) => {
    const run = await runOf(scheduler, call.args[0]!)
    return followRun(call, scheduler, run.id, { isQuiet: false })
  })
}

/** Waits for all runs. The exit code is that of the worst result. */
export async function waitForRuns(call: Call): Promise<ExitCode> {
  return withScheduler(call, async ({ scheduler }) => {
    const ids: string[] = []
    for (const id of call.args) ids.push((await runOf(scheduler, id)).id)
    const done = new Map<string, RunView>()
    const waits = ids.map(async (id) => {
      const run = await scheduler.runs.wait(id, { timeout: timeoutOf(call) })
      if (run !== null) done.set(id, run)
    })
    const isInterrupted = (await orInterrupted(call, Promise.all(waits))) === "interrupted"
    const finished = ids.flatMap((id) => done.get(id) ?? [])
    if (call.flags.isOn("json")) await showRecord(call, finished, "json")
    const unfinished = ids.filter((id) => !done.has(id))
    if (unfinished.length === 0) return worstOf(finished)
    reportUnfinished(call, unfinished)
    return isInterrupted ? EXIT.interrupted : EXIT.timedOut
  })
}

/** While a run is unfinished, its progress is read at this interval. */
const PROGRESS_EVERY_MS = 500

/** Prints the log while the run is unfinished, then its result. */
export async function followRun(
  call: Call,
  scheduler: Client,
  id: string,
  { isQuiet }: { isQuiet: boolean },
): Promise<ExitCode> {
  const waiting = scheduler.runs.wait(id, { timeout: timeoutOf(call) })
  const run = await orInterrupted(call, isQuiet ? waiting : withProgress(call, scheduler, { id, waiting }))
  if (run === null || run === "interrupted") {
    reportUnfinished(call, [id])
    return run === null ? EXIT.timedOut : EXIT.interrupted
  }
  if (call.flags.isOn("json")) await showRecord(call, run, "json")
  else call.io.out(`${statusLine(call, run)}\n`)
  return worstOf([run])
}

/** Prints each change of the run and, except with `--json`, its log, until the wait is over. Returns the result of the wait. */
async function withProgress(
  call: Call,
  scheduler: Client,
  { id, waiting }: { id: string; waiting: Promise<RunView | null> },
): Promise<RunView | null> {
  const printLog = call.flags.isOn("json") ? null : logPrinter(call, scheduler, id, null)
  let isOver = false
  let printed = ""
  const end = () => {
    isOver = true
  }
  waiting.then(end, end)
  await untilInterrupted(
    call,
    PROGRESS_EVERY_MS,
    async () => {
      // The wait was over before the log is read, so the log of a finished run is complete.
      const isLast = isOver
      await printLog?.()
      if (isLast) return EXIT.done
      const run = await scheduler.runs.get(id)
      if (run === null || isFinished(run)) return null
      const state = `${run.state} ${run.attempt} ${messageOf(run)}`
      if (state !== printed) hintPainted(call, statusLine(call, run))
      printed = state
      return null
    },
    waiting,
  )
  return waiting
}

function statusLine(call: Call, run: RunSummaryView): string {
  const { state, id, attempt } = run
  const head = paintOf(call)(stateColour(state), `${stateIcon(state)} ${state}`)
  const took = tookWords(run, call.io.clock.now())
  const facts = [attempt > 1 ? `attempt ${attempt}` : "", took, messageOf(run)].filter((fact) => fact !== "")
  return `${head} ${printable(id)}${facts.length === 0 ? "" : ` (${printable(facts.join(", "))})`}`
}

/** `--timeout`, or no limit. */
function timeoutOf({ flags }: Call): Duration {
  return flags.durationMs("timeout") ?? DURATION_MAX
}

function worstOf(runs: readonly RunSummaryView[]): ExitCode {
  if (runs.some(({ state }) => state === "failed")) return EXIT.runFailed
  return runs.every(({ state }) => state === "succeeded") ? EXIT.done : EXIT.runEnded
}

/** The wait ended, but the runs continue. */
function reportUnfinished(call: Call, ids: readonly string[]): void {
  hint(call, `Not finished: ${ids.join(", ")}. The run continues. To cancel it: belfry run cancel ${ids[0]}`)
}
