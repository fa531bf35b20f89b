import type { Client } from "../../scheduler/client.ts"
import type { RunSummaryView } from "../../scheduler/views.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { hint, hintPainted, paintOf, showRecord } from "../printing/output.ts"
import { printable } from "../printing/printable.ts"
import { messageOf, stateColour, stateIcon, tookWords } from "../printing/run-rows.ts"
import { runOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"
import { untilInterrupted } from "../terminal/waiting.ts"
import { followLog, isFinished } from "./run-logs.ts"

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
    const done = new Map<string, RunSummaryView>()
    const isTimedOut = deadlineOf(call)
    const code = await untilInterrupted(call, 250, async () => {
      for (const id of ids.filter((each) => !done.has(each))) {
        const run = await scheduler.runs.get(id)
        if (run !== null && isFinished(run)) done.set(id, run)
      }
      if (done.size === ids.length) return worstOf([...done.values()])
      return isTimedOut() ? EXIT.timedOut : null
    })
    if (call.flags.isOn("json")) await showRecord(call, [...done.values()], "json")
    if (code === EXIT.timedOut || code === EXIT.interrupted)
      reportUnfinished(
        call,
        ids.filter((id) => !done.has(id)),
      )
    return code
  })
}

/** Prints the log while the run is unfinished, then its result. */
export async function followRun(
  call: Call,
  scheduler: Client,
  id: string,
  { isQuiet }: { isQuiet: boolean },
): Promise<ExitCode> {
  const isTimedOut = deadlineOf(call)
  const follow = isQuiet || call.flags.isOn("json") ? null : followLog(call, scheduler, id, null)
  let printed = ""
  const ended = await untilInterrupted(call, 250, async () => {
    // The run is read before its log, so the log of a finished run is complete.
    const run = await scheduler.runs.get(id)
    await follow?.()
    if (run === null || isFinished(run)) return EXIT.done
    const state = `${run.state} ${run.attempt} ${messageOf(run)}`
    if (!isQuiet && state !== printed) hintPainted(call, statusLine(call, run))
    printed = state
    return isTimedOut() ? EXIT.timedOut : null
  })
  if (ended !== EXIT.done) {
    reportUnfinished(call, [id])
    return ended
  }
  const run = await scheduler.runs.get(id)
  if (run === null) return EXIT.notFound
  if (call.flags.isOn("json")) await showRecord(call, run, "json")
  else call.io.out(`${statusLine(call, run)}\n`)
  return worstOf([run])
}

function statusLine(call: Call, run: RunSummaryView): string {
  const { state, id, attempt } = run
  const head = paintOf(call)(stateColour(state), `${stateIcon(state)} ${state}`)
  const took = tookWords(run, call.io.clock.now())
  const facts = [attempt > 1 ? `attempt ${attempt}` : "", took, messageOf(run)].filter((fact) => fact !== "")
  return `${head} ${printable(id)}${facts.length === 0 ? "" : ` (${printable(facts.join(", "))})`}`
}

/** Returns a function that is true once `--timeout` has expired. */
function deadlineOf({ flags, io }: Call): () => boolean {
  const timeoutMs = flags.durationMs("timeout")
  const until = timeoutMs === undefined ? Number.POSITIVE_INFINITY : io.clock.monotonic() + timeoutMs
  return () => io.clock.monotonic() >= until
}

function worstOf(runs: readonly RunSummaryView[]): ExitCode {
  if (runs.some(({ state }) => state === "failed")) return EXIT.runFailed
  return runs.every(({ state }) => state === "succeeded") ? EXIT.done : EXIT.runEnded
}

/** The wait ended, but the runs continue. */
function reportUnfinished(call: Call, ids: readonly string[]): void {
  hint(call, `Not finished: ${ids.join(", ")}. The run continues. To cancel it: belfry run cancel ${ids[0]}`)
}
