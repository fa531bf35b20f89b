import { DEFAULT_RETRY, type RetryPolicy } from "../core/backoff.ts"
import { checked, copied, type Door, type Kind, notAllowed } from "../core/checked.ts"
import { defineSchedule } from "../core/definition.ts"
import { type Duration, parseDuration } from "../core/duration.ts"
import { BelfryError } from "../core/errors.ts"
import { DAY } from "../core/instant.ts"
import { type Json, toPayload } from "../core/json.ts"
import { callback, duration, flag, objectWith, required } from "../core/kinds.ts"
import { TASK_NAME } from "../core/limits.ts"
import type { RetryOptions, ScheduleOptions } from "../core/options.ts"
import { checkId, RETRY, scheduleDoor } from "../core/policies.ts"
import type { TriggeredBy } from "../core/run.ts"
import { shown } from "../core/shown.ts"
import { describeIssues, type SchemaResult, type StandardSchema } from "../core/standard-schema.ts"
import type { Logger } from "./logger.ts"

/** A named piece of code, with an optional payload schema. Defining one starts nothing. */
export interface Task<Input = unknown, Output = Input> extends AnyTask {
  readonly payload: StandardSchema<Input, Output> | null
  /** Declares a schedule of this task; give it to `createScheduler({ schedules })`. */
  schedule(id: string, options: DeclaredOptions<Input>): DeclaredSchedule
}

/** A task whose payload type doesn't matter: what a scheduler collects and a worker performs. */
export interface AnyTask {
  readonly name: string
  readonly payload: StandardSchema | null
  readonly retry: RetryPolicy
  readonly timeoutMs: number | null
  readonly leaseMs: number | null
  run(context: TaskContext): unknown
  /** See `TaskOptions`. */
  examine?(payload: unknown): unknown
  /** Called when a scheduler that performs the task has started. Nobody waits for it, and it must not throw. */
  onStart?(logger: Logger): void
}

export interface TaskOptions<Input, Output> {
  readonly name: string
  /** Any Standard Schema (Zod, Valibot, ArkType): checked when a schedule is declared, at enqueue and at run. */
  readonly payload?: StandardSchema<Input, Output>
  readonly retry?: RetryOptions
  /** Longest time for one attempt. */
  readonly timeout?: Duration
  /** How long a worker may be silent before another takes the run over. Longer than any blocking of the event loop. */
  readonly lease?: Duration
  run(context: TaskContext<Output>): unknown
  /**
   * Asked before a schedule with this payload is created or given it, by a process that knows the task. Throws, or rejects, if no
   * run of it could succeed, such as when the payload names something that doesn't exist. What can't be found out is no reason.
   */
  examine?(payload: Output): unknown
}

/** What a task is given for one attempt. */
export interface TaskContext<Payload = unknown> {
  readonly payload: Payload
  readonly run: RunInfo
  /** Aborted when the run is cancelled or times out, when its lease is lost, and when the worker has to stop. */
  readonly signal: AbortSignal
  readonly log: RunLogger
  /** From 0 to 1; stored with the next heartbeat. */
  progress(fraction: number, message?: string): void
  /**
   * Ends the run with success inside a transaction of the task's own, on the database that the store is in: its writes and
   * the run's end are committed together, or neither is. Rejects if the run is no longer this attempt's.
   */
  complete(transaction: unknown, result?: unknown): Promise<void>
  /** The newest successful run of the same schedule, or null. */
  lastSuccess(): Promise<LastSuccess | null>
}

export interface RunInfo {
  /** The same for every attempt of an occurrence: your idempotency key. */
  readonly id: string
  /** Larger on every attempt: pass it to a resource that refuses smaller ones (a fencing token). */
  readonly attempt: number
  readonly isLastAttempt: boolean
  readonly task: string
  readonly scheduleId: string | null
  /** The nominal time of the occurrence; null for a run that was enqueued. */
  readonly scheduledFor: Date | null
  readonly triggeredBy: TriggeredBy
  /** How many occurrences this run stands for: more than 1 after an outage, under `catchUp: "once"`. */
  readonly standsFor: number
  readonly missed: { readonly from: Date; readonly until: Date; readonly count: number } | null
}

export interface LastSuccess {
  readonly runId: string
  readonly scheduledFor: Date | null
  readonly completedAt: Date
  readonly message: string | null
  readonly details: Json
}

/** Lines kept with the run. */
export interface RunLogger {
  debug(message: string, fields?: object): void
  info(message: string, fields?: object): void
  warn(message: string, fields?: object): void
  error(message: string, fields?: object): void
}

/** The payload may be left out where the schema accepts nothing. */
export type PayloadOption<Input> = undefined extends Input
  ? { readonly payload?: Input }
  : { readonly payload: Input }

export type DeclaredOptions<Input> = Omit<ScheduleOptions, "in"> &
  PayloadOption<Input> & {
    /** Never stored: every process ticks it from memory, and the run's id lets one through. */
    readonly local?: boolean
  }

export interface DeclaredSchedule {
  readonly id: string
  readonly task: AnyTask
  readonly options: Omit<ScheduleOptions, "in">
  readonly payload: unknown
  readonly isLocal: boolean
}

/** A shorter lease would end before its first heartbeat has come and gone. */
export const LEASE_MIN_MS = 100

/** A longer one would leave the runs of a dead worker alone for more than a week. */
export const LEASE = duration({ min: LEASE_MIN_MS, max: 7 * DAY })

const SCHEMA: Kind<StandardSchema> = {
  allowed: "a Standard Schema, such as Zod's or Valibot's",
  read(value, at) {
    // ArkType's are functions.
    const isHolder = typeof value === "object" || typeof value === "function"
    const schema = isHolder ? (value as Partial<StandardSchema>)["~standard"] : undefined
    if (typeof schema?.validate === "function") return value as StandardSchema
    throw notAllowed(value, SCHEMA.allowed, at)
  },
}

/** A task itself, not its name. */
export const TASK: Kind<AnyTask> = {
  allowed: "what defineTask returns",
  read(value, at) {
    const task = objectWith<AnyTask>(["name", "payload", "retry", "run"], TASK.allowed).read(value, at)
    if (task.payload !== null) SCHEMA.read(task.payload, { door: at.door, option: `${at.option}.payload` })
    return task
  },
}

export const TASK_OPTIONS = {
  name: required(TASK_NAME),
  payload: SCHEMA,
  retry: RETRY,
  timeout: duration({ min: 1 }),
  lease: LEASE,
  run: required(callback<(context: TaskContext) => unknown>()),
  examine: callback<(payload: unknown) => unknown>(),
} satisfies Record<keyof TaskOptions<unknown, unknown>, Kind<unknown>>

/** Defines a task. Without a schema it takes no payload. */
export function defineTask<Input = undefined, Output = Input>(
  options: TaskOptions<Input, Output>,
): Task<Input, Output> {
  const given = checked(options, TASK_OPTIONS, taskDoor(options))
  const task: Task<Input, Output> = {
    name: given.name,
    payload: (given.payload ?? null) as StandardSchema<Input, Output> | null,
    retry: given.retry ?? DEFAULT_RETRY,
    timeoutMs: given.timeout ?? null,
    leaseMs: given.lease ?? null,
    run: given.run,
    ...(given.examine !== undefined && { examine: given.examine }),
    schedule: (id, declared) => declare(task, id, declared),
  }
  return task
}

function taskDoor(options: { name?: unknown } | null | undefined): Door {
  return { code: "BELFRY_TASK_INVALID", subject: `Task${shownName(options)}` }
}

function shownName(options: { name?: unknown } | null | undefined): string {
  try {
    const name = options?.name
    return typeof name === "string" ? ` ${shown(name)}` : ""
  } catch {
    // A getter or a proxy: the check of the options says so.
    return ""
  }
}

const LOCAL = { local: flag }

function declare(task: AnyTask, id: string, options: DeclaredOptions<unknown>): DeclaredSchedule {
  const door = scheduleDoor(checkId(id))
  const { payload, local, ...rest } = copied(options, { door, option: "options" })
  const { local: isLocal = false } = checked({ local }, LOCAL, door)
  // A mistake shows here, where it was made.
  defineSchedule(rest, { id, task: task.name, payload, owner: null, release: 0, now: null })
  // So does one in the payload: most schemas answer at once. An asynchronous one waits for start.
  const checkedPayload = checkPayload(task, toPayload(payload, `Payload of schedule "${id}"`))
  if (isLater(checkedPayload)) Promise.resolve(checkedPayload).catch(() => undefined)
  else payloadOrThrow(task, checkedPayload)
  return { id, task, options: rest, payload, isLocal }
}

/** A stored payload as the task's code will see it. */
export async function validatePayload(task: AnyTask, payload: Json): Promise<unknown> {
  return payloadOrThrow(task, await checkPayload(task, payload))
}

/** Stores keep nothing and null alike: nothing is tried first, null if the schema refuses nothing. */
export function checkPayload(task: AnyTask, payload: Json): Checked {
  if (task.payload === null) return { value: payload ?? undefined }
  const schema = task.payload["~standard"]
  const checked = schema.validate(payload ?? undefined)
  if (payload !== null) return checked
  const orNull = (nothing: SchemaResult<unknown>): Checked => {
    if (nothing.issues === undefined) return nothing
    return whenChecked(schema.validate(null), (asNull) => (asNull.issues === undefined ? asNull : nothing))
  }
  return whenChecked(checked, orNull)
}

type Checked = SchemaResult<unknown> | Promise<SchemaResult<unknown>>

/** Whether the schema takes its time; not every promise is one of Node's own. */
export function isLater(checked: Checked): checked is Promise<SchemaResult<unknown>> {
  return "then" in checked
}

/** Stays synchronous if it is: see `declare`. */
function whenChecked(checked: Checked, next: (result: SchemaResult<unknown>) => Checked): Checked {
  return isLater(checked) ? Promise.resolve(checked).then(next) : next(checked)
}

export function payloadOrThrow(task: AnyTask, result: SchemaResult<unknown>): unknown {
  if (result.issues === undefined) return result.value
  throw new BelfryError(
    "BELFRY_PAYLOAD_INVALID",
    `Payload of task "${task.name}" is invalid${describeIssues(result.issues)}.`,
    { details: { option: "payload", task: task.name, issues: result.issues } },
  )
}

/** Thrown by a task: this can't succeed, don't try again. */
export class DoNotRetry extends Error {
  override readonly name = "DoNotRetry"
  /** Kept as the run's `details`. */
  readonly details: unknown

  constructor(message?: string, options: { cause?: unknown; details?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.details = options.details
  }
}

/** Thrown by a task: try again, but not before this long from now. */
export class RetryAfter extends Error {
  override readonly name = "RetryAfter"
  readonly afterMs: number
  /** Kept as the run's `details`. */
  readonly details: unknown

  constructor(delay: Duration, options: { message?: string; cause?: unknown; details?: unknown } = {}) {
    super(
      options.message ?? `Retry after ${delay}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.afterMs = parseDuration(delay, "RetryAfter delay")
    this.details = options.details
  }
}
