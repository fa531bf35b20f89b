import { unreadableRun } from "../../core/records/damaged-records.ts"
import { assertValidRun } from "../../core/records/valid-records.ts"
import type { RetryPolicy } from "../../core/run/backoff.ts"
import {
  ATTEMPTS_KEPT,
  type Attempt,
  type AttemptOutcome,
  type Missed,
  type NewRun,
  type Progress,
  type Run,
  type RunState,
  type TriggeredBy,
} from "../../core/run/run.ts"
import { concurrencyKeyOf } from "../../core/schedule/schedule.ts"
import type { Json } from "../../core/values/json.ts"
import { storedJson } from "../../core/values/json.ts"
import { unreadableBecause } from "../kit/isolation.ts"
import type { Reply } from "./connection.ts"
import { instantIn } from "./instants.ts"

/**
 * A run's hash, and where the rest of the run is stored. `run-encoding.test.ts` checks that every run is stored like this.
 *
 * A field without a value is absent, and so is a `priority`, `failures` or `lost` of 0: a small hash takes a third of the
 * memory and half the time. Some fields stand for several values, or do not follow the value of their name:
 * - `more` holds the trigger, the missed occurrences, the retry policy and the timeout, as far as they are set.
 * - `single` is present if the run has a schedule, and both its keys are the schedule's own key. Then the keys are absent.
 * - `attempt` is present from the first claim or retry on. Before that it is present, as 0, if the run was created with a
 *   parent, a message, a reason or a `by`, or if it has a schedule or a key and is not single. A claim reads `FURTHER_FIELDS`
 *   only if `attempt` is present.
 * - `further` is present if the run has no schedule, and has a limit or was created with `attempt`. Without a schedule and
 *   without `further`, `read_run` reads no keys, no limit and no message.
 * - `worker_id` stays when its attempt ends, although the run then has no worker.
 * - `confirmed_attempt` is the newest attempt that a heartbeat confirmed. Only a claim reads it.
 * - `completed_at` is present if the run is finished. `outcome` is present if it finished by ending an attempt. The hash then
 *   describes this attempt, and the list `:attempts:<id>` holds only the attempts before it.
 *
 * Elsewhere:
 * - `claimableAt` is the score of an unfinished run in `:queue:<priority>:<task>`. A pending run that waits for its key is in
 *   `:waiting:<limit>:<priority>:<bytes of task>:<task>:<key>` instead, which `:parked` and `:parked:<key>` lead to.
 * - `:live` names the unfinished run of each live key. `:running` counts the running runs of each concurrency key. `:counts`
 *   counts the runs of each state, by task and by schedule.
 * - Every run is in `:run-ids`, `:history:created` and `:history:task:<task>`. A run with the value is in `:history:scheduled`,
 *   `:children:<parent>` and, if it is a rare trigger, `:history:triggered-by:<trigger>`.
 * - An unfinished run is in `:unfinished`, and while it is running in `:running-runs`. Unless it is single, it is also in
 *   `:unfinished:<concurrency key>`.
 * - A finished run is in `:history:completed` and, unless it succeeded, in `:history:<state>`.
 * - A run of a schedule is in `:history:created:<schedule>` and `:history:scheduled:<schedule>`, and once it is finished in
 *   `:history:completed:<schedule>`. An unfinished single run is in none of these and not in the schedule's counts. It is found
 *   by its live key.
 */
interface RunFields {
  readonly id: string
  readonly state: RunState
  readonly task: string
  readonly created_at: string
  readonly triggered_by: TriggeredBy
  readonly payload?: string
  readonly priority?: string
  readonly attempt?: string
  readonly failures?: string
  readonly lost?: string
  readonly worker_id?: string
  readonly due_at?: string
  readonly started_at?: string
  readonly completed_at?: string
  readonly outcome?: AttemptOutcome
  readonly schedule_id?: string
  readonly scheduled_for?: string
  readonly parent_id?: string
  readonly single?: string
  readonly live_key?: string
  readonly concurrency_key?: string
  readonly concurrency_limit?: string
  readonly further?: string
  readonly message?: string
  readonly details?: string
  readonly error?: string
  readonly reason?: string
  readonly by?: string
  readonly progress?: string
  readonly confirmed_attempt?: string
  readonly more?: string
  /** Not in the hash: added by the script that reads the run. */
  readonly claimable_at?: string | number
  readonly attempts?: readonly string[]
  /** Set if a list is ordered by an instant that differs from the hash: the field's name, and the score in the list. */
  readonly placed_by?: "created_at" | "scheduled_for" | "completed_at"
  readonly place?: string
}

/** Values that no script compares or changes, as JSON in one field. */
interface More {
  readonly trigger?: string
  readonly missed?: Missed
  readonly retry?: RetryPolicy
  readonly timeoutMs?: number
}

const NOTHING_MORE: More = {}

export function fieldsOf(reply: Reply): RunFields {
  const list = reply as readonly string[]
  const fields: Record<string, unknown> = {}
  for (let index = 0; index < list.length; index += 2) fields[list[index]!] = list[index + 1]
  return fields as unknown as RunFields
}

/** For lists and inspection. If the run cannot be read completely, returns the readable parts, with the reason as `error`. */
export function readableRunOf(fields: RunFields): Run {
  try {
    return runOf(fields)
  } catch (error) {
    return unreadableRun({ ...partsOf(fields, orUndefined), ...placeIn(fields) }, unreadableBecause(error))
  }
}

/** The score in the list, because the next page starts after the score of the last run. */
function placeIn({ placed_by: by, place }: RunFields): Partial<Run> {
  if (by === undefined) return {}
  const name = { created_at: "createdAt", scheduled_for: "scheduledFor", completed_at: "completedAt" }[by]
  return { [name]: Number(place) }
}

/** Throws if the run cannot be read. */
function runOf(fields: RunFields): Run {
  const run = partsOf(fields, (read) => read())
  const { placed_by: by } = fields
  if (by !== undefined)
    throw new TypeError(`${by} is ${fields[by] ?? "missing"}, but its score in the list is ${fields.place}`)
  assertValidRun(run)
  return run
}

function orUndefined<T>(read: () => T): T {
  try {
    return read()
  } catch {
    // The run's `error` says why. The other parts are still read.
    return undefined as T
  }
}

/** `tryRead` is called with each read that may throw. */
function partsOf(fields: RunFields, tryRead: <T>(read: () => T) => T): Run {
  const more = tryRead(() => moreIn(fields.more)) ?? NOTHING_MORE
  const isSingle = fields.single !== undefined && fields.schedule_id !== undefined
  const singleKey = isSingle ? concurrencyKeyOf(fields.schedule_id!) : null
  return {
    id: fields.id,
    task: fields.task,
    payload: tryRead(() => jsonOf(fields.payload)),
    priority: numberOf(fields.priority) ?? 0,
    scheduleId: fields.schedule_id ?? null,
    scheduledFor: instantIn(fields.scheduled_for),
    parentId: fields.parent_id ?? null,
    triggeredBy: fields.triggered_by,
    trigger: more.trigger ?? null,
    missed: more.missed ?? null,
    liveKey: singleKey ?? fields.live_key ?? null,
    concurrencyKey: singleKey ?? fields.concurrency_key ?? null,
    concurrencyLimit: numberOf(fields.concurrency_limit),
    retry: more.retry ?? null,
    timeoutMs: more.timeoutMs ?? null,
    reason: fields.reason ?? null,
    by: fields.by ?? null,
    state: fields.state,
    claimableAt: numberOf(fields.claimable_at),
    attempt: numberOf(fields.attempt) ?? 0,
    failures: numberOf(fields.failures) ?? 0,
    lost: numberOf(fields.lost) ?? 0,
    workerId: fields.state === "running" ? fields.worker_id! : null,
    createdAt: instantIn(fields.created_at) ?? Number.NaN,
    dueAt: instantIn(fields.due_at),
    startedAt: instantIn(fields.started_at),
    completedAt: instantIn(fields.completed_at),
    message: fields.message ?? null,
    details: tryRead(() => jsonOf(fields.details)),
    error: fields.error ?? null,
    progress: tryRead(() => jsonOf(fields.progress) as Progress | null),
    attempts: tryRead(() => attemptsOf(fields)),
  }
}

const NO_ATTEMPTS: readonly Attempt[] = []

function attemptsOf(fields: RunFields): readonly Attempt[] {
  const { outcome, attempts: earlier = [] } = fields
  if (outcome === undefined && earlier.length === 0) return NO_ATTEMPTS
  const attempts = earlier.map(attemptOf)
  if (outcome !== undefined) {
    const endedAt = instantIn(fields.completed_at) ?? Number.NaN
    const startedAt = instantIn(fields.started_at) ?? endedAt
    attempts.push({
      attempt: numberOf(fields.attempt) ?? 0,
      workerId: fields.worker_id ?? "",
      dueAt: instantIn(fields.due_at) ?? startedAt,
      startedAt,
      endedAt,
      outcome,
      error: fields.error ?? null,
    })
  }
  return attempts.slice(-ATTEMPTS_KEPT)
}

type AttemptRow = readonly [
  ...(readonly [Attempt["attempt"], Attempt["workerId"], Attempt["dueAt"], Attempt["startedAt"]]),
  ...(readonly [Attempt["endedAt"], Attempt["outcome"], Attempt["error"]]),
]

export function attemptOf(text: string): Attempt {
  const [attempt, workerId, dueAt, startedAt, endedAt, outcome, error] = storedJson<AttemptRow>(text)
  return { attempt, workerId, dueAt, startedAt, endedAt, outcome, error }
}

export function moreOf({ trigger, missed, retry, timeoutMs }: NewRun): string | null {
  if (trigger === null && missed === null && retry === null && timeoutMs === null) return null
  const more: Record<string, unknown> = {}
  if (trigger !== null) more["trigger"] = trigger
  if (missed !== null) more["missed"] = missed
  if (retry !== null) more["retry"] = retry
  if (timeoutMs !== null) more["timeoutMs"] = timeoutMs
  return JSON.stringify(more)
}

export function moreIn(text: string | null | undefined): More {
  if (text === null || text === undefined) return NOTHING_MORE
  const more: unknown = storedJson(text)
  if (typeof more === "object" && more !== null && !Array.isArray(more)) return more
  throw new TypeError(`more is ${text.slice(0, 80)}, which is not an object`)
}

export function jsonOf(text: string | null | undefined): Json {
  return text === null || text === undefined ? null : (storedJson(text) as Json)
}

/** NaN if the text is not a number; then the record is unreadable. */
export function numberOf(value: string | number | null | undefined): number | null {
  if (value === null || value === undefined) return null
  return value === "" ? Number.NaN : Number(value)
}
