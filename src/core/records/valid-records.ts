import type { Attempt, Run } from "../run/run.ts"
import { RUN_STATES, type RunState } from "../run/run-states.ts"
import type { Schedule } from "../schedule/schedule.ts"
import { shownJson } from "../values/shown.ts"
import { assertPlannable } from "./plannable-schedule.ts"

/**
 * A database may contain records that other programs wrote without our checks. These functions check that a record matches its
 * type, so that no other code has to. Each throws at the first wrong part. They run for every record that is read, so the parts
 * are checked one by one, which is faster than a table.
 */

/** A schedule that passes can be shown, planned and stored again. */
export function assertValidSchedule(schedule: Schedule): void {
  assertPlannable(schedule)
  count("version", schedule.version)
  count("revision", schedule.revision)
  instant("updatedAt", schedule.updatedAt)
  textOrNull("declaredAs", schedule.declaredAs)
  text("task", schedule.task)
  if (schedule.payload === undefined) throw unsound("payload", undefined, "JSON")
  text("timezone", schedule.timezone)
  fields(DST, schedule.dst)
  whole("priority", schedule.priority)
  number("jitterMs", schedule.jitterMs)
  number("spacingMs", schedule.spacingMs)
  instantOrNull("startsAt", schedule.startsAt)
  instantOrNull("endsAt", schedule.endsAt)
  if (schedule.maxRuns !== null) count("maxRuns", schedule.maxRuns)
  flag("removeWhenFinished", schedule.removeWhenFinished)
  fields(CATCH_UP, schedule.catchUp)
  fields(OVERLAP, schedule.overlap)
  if (schedule.maxConcurrentRuns !== null) count("maxConcurrentRuns", schedule.maxConcurrentRuns)
  list("dependsOn", schedule.dependsOn)
  for (const dependency of schedule.dependsOn) fields(DEPENDENCY, dependency)
  if (schedule.retry !== null) fields(RETRY, schedule.retry)
  if (schedule.timeoutMs !== null) number("timeoutMs", schedule.timeoutMs)
  flag("enabled", schedule.enabled)
  list("tags", schedule.tags)
  for (const tag of schedule.tags) text("tags", tag)
  text("description", schedule.description)
  textOrNull("owner", schedule.owner)
  number("release", schedule.release)
  textOrNull("lastError", schedule.lastError)
  instantOrNull("finishedAt", schedule.finishedAt)
  count("runCount", schedule.runCount)
  textOrNull("lastRunId", schedule.lastRunId)
  instantOrNull("lastRunAt", schedule.lastRunAt)
  textOrNull("lastState", schedule.lastState)
  instantOrNull("lastEndedAt", schedule.lastEndedAt)
  instantOrNull("lastSuccessAt", schedule.lastSuccessAt)
  count("failuresInARow", schedule.failuresInARow)
}

/** A run that passes can be shown, given to a worker and changed. */
export function assertValidRun(run: Run): void {
  text("task", run.task)
  if (run.payload === undefined) throw unsound("payload", undefined, "JSON")
  whole("priority", run.priority)
  textOrNull("scheduleId", run.scheduleId)
  instantOrNull("scheduledFor", run.scheduledFor)
  textOrNull("parentId", run.parentId)
  text("triggeredBy", run.triggeredBy)
  textOrNull("trigger", run.trigger)
  if (run.missed !== null) fields(MISSED, run.missed)
  textOrNull("liveKey", run.liveKey)
  textOrNull("concurrencyKey", run.concurrencyKey)
  if (run.concurrencyLimit !== null) whole("concurrencyLimit", run.concurrencyLimit)
  if (run.retry !== null) fields(RETRY, run.retry)
  if (run.timeoutMs !== null) number("timeoutMs", run.timeoutMs)
  textOrNull("reason", run.reason)
  textOrNull("by", run.by)
  if (!STATES.has(run.state)) throw unsound("state", run.state, "one of the six states")
  instantOrNull("claimableAt", run.claimableAt)
  count("attempt", run.attempt)
  count("failures", run.failures)
  count("lost", run.lost)
  textOrNull("workerId", run.workerId)
  instant("createdAt", run.createdAt)
  instantOrNull("dueAt", run.dueAt)
  instantOrNull("startedAt", run.startedAt)
  instantOrNull("completedAt", run.completedAt)
  textOrNull("message", run.message)
  if (run.details === undefined) throw unsound("details", undefined, "JSON")
  textOrNull("error", run.error)
  if (run.progress !== null) fields(PROGRESS, run.progress)
  assertValidAttempts(run.attempts)
}

export function assertValidAttempts(attempts: readonly Attempt[]): void {
  list("attempts", attempts)
  for (const attempt of attempts) fields(ATTEMPT, attempt)
}

const STATES: ReadonlySet<RunState> = new Set(RUN_STATES)

type Check = (name: string, value: unknown) => void

interface Form {
  readonly name: string
  readonly parts: readonly (readonly [field: string, label: string, check: Check])[]
}

function formOf(name: string, checks: Readonly<Record<string, Check>>): Form {
  return {
    name,
    parts: Object.entries(checks).map(([field, check]) => [field, `${name}.${field}`, check] as const),
  }
}

const DST = formOf("dst", { gap: text, overlap: text })
const CATCH_UP = formOf("catchUp", { policy: text, graceMs: number, windowMs: number, limit: number })
const OVERLAP = formOf("overlap", { policy: text, limit: number })
const DEPENDENCY = formOf("dependsOn", { scheduleId: text, withinMs: number })
const RETRY = formOf("retry", {
  attempts: number,
  backoff: text,
  baseMs: number,
  maxMs: number,
  jitter: number,
})
const MISSED = formOf("missed", { from: instant, until: instant, count: number })
const PROGRESS = formOf("progress", { fraction: number, message: textOrNull })
const ATTEMPT = formOf("attempts", {
  attempt: count,
  workerId: text,
  dueAt: instant,
  startedAt: instant,
  endedAt: instant,
  outcome: text,
  error: textOrNull,
})

function fields({ name, parts }: Form, value: unknown): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw unsound(name, value, `an object of ${parts.map(([field]) => field).join(", ")}`)
  }
  for (const [field, label, check] of parts) check(label, (value as Record<string, unknown>)[field])
}

function list(name: string, value: unknown): void {
  if (!Array.isArray(value)) throw unsound(name, value, "a list")
}

function text(name: string, value: unknown): void {
  if (typeof value !== "string") throw unsound(name, value, "text")
}

function textOrNull(name: string, value: unknown): void {
  if (value !== null && typeof value !== "string") throw unsound(name, value, "text or null")
}

function flag(name: string, value: unknown): void {
  if (typeof value !== "boolean") throw unsound(name, value, "true or false")
}

function number(name: string, value: unknown): void {
  if (!Number.isFinite(value)) throw unsound(name, value, "a number")
}

function whole(name: string, value: unknown): void {
  if (!Number.isSafeInteger(value)) throw unsound(name, value, "a whole number")
}

function count(name: string, value: unknown): void {
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw unsound(name, value, "a whole number from 0")
}

/** The range of `Date`, before and after 1970: a long delay may end after the year 9999. */
export const DATE_MAX = 8_640_000_000_000_000

function instant(name: string, value: unknown): void {
  const isSound = typeof value === "number" && value >= -DATE_MAX && value <= DATE_MAX
  if (!isSound) throw unsound(name, value, "an instant")
}

function instantOrNull(name: string, value: unknown): void {
  if (value !== null) instant(name, value)
}

function unsound(name: string, value: unknown, allowed: string): TypeError {
  return new TypeError(`${name} is ${shownJson(value)}, which is not ${allowed}`)
}
