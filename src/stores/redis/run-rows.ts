import type { RetryPolicy } from "../../core/backoff.ts"
import type { Json } from "../../core/json.ts"
import { storedJson } from "../../core/json.ts"
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
} from "../../core/run.ts"
import { concurrencyKeyOf } from "../../core/schedule.ts"
import { assertSoundRun } from "../../core/sound.ts"
import { unreadableRun } from "../../core/unreadable.ts"
import { unreadableBecause } from "../kit/isolation.ts"
import type { Reply } from "./connection.ts"
import { instantIn } from "./instants.ts"

/**
 * A run's hash. What has nothing to say is not there: a small hash takes a third of the memory, and half the time. When a run
 * is due is not there either: that is its score in its queue, and nowhere else.
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
  /** There if it holds the key of its schedule alone; then neither of these is. */
  readonly single?: string
  readonly live_key?: string
  readonly concurrency_key?: string
  readonly concurrency_limit?: string
  /** There if it is of no schedule, and has a key, a limit or a message to look for. */
  readonly further?: string
  readonly message?: string
  readonly details?: string
  readonly error?: string
  readonly reason?: string
  readonly by?: string
  readonly progress?: string
  readonly confirmed_attempt?: string
  readonly more?: string
  /** Not in the hash: added by the script that reads it. */
  readonly claimable_at?: string | number
  readonly attempts?: readonly string[]
  /** There if the instant that a list is ordered by isn't the one in the hash: which one, and the score in the list. */
  readonly placed_by?: "created_at" | "scheduled_for" | "completed_at"
  readonly place?: string
}

/** What nobody compares or changes, in one field. */
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

/** For people: of a run that can't be read whole, what can be, with its fault as the error. */
export function readableRunOf(fields: RunFields): Run {
  try {
    return runOf(fields)
  } catch (error) {
    return unreadableRun({ ...partsOf(fields, orNothing), ...placeIn(fields) }, unreadableBecause(error))
  }
}

/** The next page of a list goes on behind the place of its last run. */
function placeIn({ placed_by: by, place }: RunFields): Partial<Run> {
  if (by === undefined) return {}
  const name = { created_at: "createdAt", scheduled_for: "scheduledFor", completed_at: "completedAt" }[by]
  return { [name]: Number(place) }
}

/** Throws if the run can't be read. */
function runOf(fields: RunFields): Run {
  const run = partsOf(fields, (read) => read())
  const { placed_by: by } = fields
  if (by !== undefined) throw new TypeError(`${by} is ${fields[by] ?? "missing"}, and its place is another`)
  assertSoundRun(run)
  return run
}

function orNothing<T>(read: () => T): T {
  try {
    return read()
  } catch {
    // Why is told with the run; what can be read of it goes on without this part.
    return undefined as T
  }
}

/** `tried` is given what may throw. */
function partsOf(fields: RunFields, tried: <T>(read: () => T) => T): Run {
  const more = tried(() => moreIn(fields.more)) ?? NOTHING_MORE
  const isSingle = fields.single !== undefined && fields.schedule_id !== undefined
  const singleKey = isSingle ? concurrencyKeyOf(fields.schedule_id!) : null
  return {
    id: fields.id,
    task: fields.task,
    payload: tried(() => jsonOf(fields.payload)),
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
    // Kept when the run is finished, for the story of its last attempt.
    workerId: fields.state === "running" ? fields.worker_id! : null,
    createdAt: instantIn(fields.created_at) ?? Number.NaN,
    dueAt: instantIn(fields.due_at),
    startedAt: instantIn(fields.started_at),
    completedAt: instantIn(fields.completed_at),
    message: fields.message ?? null,
    details: tried(() => jsonOf(fields.details)),
    error: fields.error ?? null,
    progress: tried(() => jsonOf(fields.progress) as Progress | null),
    attempts: tried(() => attemptsOf(fields)),
  }
}

const NO_ATTEMPTS: readonly Attempt[] = []

/** Most runs have one attempt, which ended when they did: it is told by the run's own fields, and others by a list. */
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

/** Not a number where the text is none: then the record isn't what its type says. */
export function numberOf(value: string | number | null | undefined): number | null {
  if (value === null || value === undefined) return null
  return value === "" ? Number.NaN : Number(value)
}
