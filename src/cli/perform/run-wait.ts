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
import { followLog, isOver } from "./run-logs.ts"

export async function watchRun(call: Call): Promise<ExitCode> {
  return withScheduler(call, async ({ scheduler }) => {
    const run = await runOf(scheduler, call.args[0]!)
    return followRun(call, scheduler, run.id, { isQuiet: false })
  })
}

/** Waits for all of them; the worst says the exit code. */
export async function waitForRuns(call: Call): Promise<ExitCode> {
  return withScheduler(call, async ({ scheduler }) => {
    const ids: string[] = []
    for (const id of call.args) ids.push((await runOf(scheduler, id)).id)
    const done = new Map<string, RunSummaryView>()
    const late = deadlineOf(call)
    const code = await untilInterrupted(call, 250, async () => {
      for (const id of ids.filter((each) => !done.has(each))) {
        const run = await scheduler.runs.get(id)
        if (run !== null && isOver(run)) done.set(id, run)
      }
      if (done.size === ids.length) return worstOf([...done.values()])
      return late() ? EXIT.timedOut : null
    })
    if (call.flags.isOn("json")) await showRecord(call, [...done.values()], "json")
    if (code === EXIT.timedOut || code === EXIT.interrupted)
      tellWaiting(
        call,
        ids.filter((id) => !done.has(id)),
      )
    return code
  })
}

/** Shows the log as it comes, then how it ended. */
export async function followRun(
  call: Call,
  scheduler: Client,
  id: string,
  { isQuiet }: { isQuiet: boolean },
): Promise<ExitCode> {
  const late = deadlineOf(call)
  const follow = isQuiet || call.flags.isOn("json") ? null : followLog(call, scheduler, id, null)
  let told = ""
  const ended = await untilInterrupted(call, 250, async () => {
    // The run is read before its log: the log of a finished run is complete.
    const run = await scheduler.runs.get(id)
    await follow?.()
    if (run === null || isOver(run)) return EXIT.done
    const state = `${run.state} ${run.attempt} ${messageOf(run)}`
    if (!isQuiet && state !== told) hintPainted(call, statusLine(call, run))
    told = state
    return late() ? EXIT.timedOut : null
  })
  if (ended !== EXIT.done) {
    tellWaiting(call, [id])
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

/** Whether `--timeout` has passed. */
function deadlineOf({ flags, io }: Call): () => boolean {
  const timeoutMs = flags.durationMs("timeout")
  const until = timeoutMs === undefined ? Number.POSITIVE_INFINITY : io.clock.monotonic() + timeoutMs
  return () => io.clock.monotonic() >= until
}

function worstOf(runs: readonly RunSummaryView[]): ExitCode {
  if (runs.some(({ state }) => state === "failed")) return EXIT.runFailed
  return runs.every(({ state }) => state === "succeeded") ? EXIT.done : EXIT.runEnded
}

/** It is the waiting that ended, not the run. */
function tellWaiting(call: Call, ids: readonly string[]): void {
  hint(call, `Not done yet: ${ids.join(", ")}. It goes on; end it with: belfry run cancel ${ids[0]}`)
}
