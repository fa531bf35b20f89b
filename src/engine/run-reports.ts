import { latenessMs } from "../core/run/lateness.ts"
import { isFinished, isGivenUp, type Run, type RunChange } from "../core/run/run.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Events } from "./events.ts"

/** Where a worker reports on its runs. */
export interface RunReporting {
  readonly events: Events
  readonly logger: Logger
}

/** `waitedMs`: from the claim until the task is called, for a confirmation and for other runs that begin before this one. */
export function reportStart({ events, logger }: RunReporting, run: Run, waitedMs: number): void {
  const { dueAt, startedAt, attempts } = run
  const beganAt = startedAt! + Math.round(waitedMs)
  const lateMs = latenessMs({ dueAt: dueAt!, startedAt: beganAt }, attempts.at(-1))
  logger.debug({ ...factsOf(run), latenessMs: lateMs }, "Started")
  events.emit(run, { type: "started", latenessMs: lateMs })
}

export function reportCancelled({ events, logger }: RunReporting, run: Run): void {
  logger.info(factsOf(run), "Cancelled")
  events.emit(run, { type: "cancelled" })
}

/** Another attempt holds the run or has ended it. */
export function reportSuperseded({ events, logger }: RunReporting, run: Run): void {
  logger.warn(factsOf(run), "The attempt no longer held the run; its result was not stored")
  events.emit(run, { type: "superseded" })
}

export function reportEnd(
  { events, logger }: RunReporting,
  { run, durationMs }: Ended,
  change: RunChange,
): void {
  const ending = endingOf(change, durationMs)
  const { type } = ending
  const facts = change.error === null ? factsOf(run) : { ...factsOf(run), error: change.error }
  if (type === "failed" || type === "lost") logger.error(facts, "Failed")
  else logger.info(facts, MESSAGES[type])
  events.emit(run, ending)
}

/** An attempt, and how long its task took. */
export interface Ended {
  readonly run: Run
  readonly durationMs: number
}

function factsOf({ id: runId, task, scheduleId, attempt }: Run) {
  return { component: "worker", runId, task, scheduleId, attempt }
}

const MESSAGES = {
  succeeded: "Succeeded",
  retrying: "Failed, and will be tried again",
  released: "Given back",
} as const

/** The event of the change that ended an attempt. */
function endingOf(change: RunChange, durationMs: number) {
  const { error, message, details } = change
  if (isGivenUp(change)) return { type: "lost", error } as const
  if (change.outcome === "released") return { type: "released" } as const
  if (!isFinished(change.state))
    return { type: "retrying", error, retryInMs: change.claimableInMs ?? 0, durationMs } as const
  return change.state === "succeeded"
    ? ({ type: "succeeded", message, details, durationMs } as const)
    : ({ type: "failed", error, durationMs } as const)
}
