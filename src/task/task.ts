import {
  type Checked,
  checked,
  notAllowed,
  type OptionSource,
  type OptionType,
  refusal,
} from "../core/options/checked.ts"
import { SCHEDULE_OPTIONS } from "../core/options/definition.ts"
import { IS_SCHEDULE_ID, TASK_NAME } from "../core/options/limits.ts"
import {
  asGiven,
  callback,
  choice,
  duration,
  objectWith,
  required,
  text,
} from "../core/options/option-types.ts"
import type { RetryOptions } from "../core/options/options.ts"
import { RETRY } from "../core/options/policies.ts"
import { DEFAULT_RETRY, type RetryPolicy } from "../core/run/backoff.ts"
import type { Delivery } from "../core/run/delivery.ts"
import type { Duration } from "../core/time/duration.ts"
import { DAY } from "../core/time/instant.ts"
import { shown } from "../core/values/shown.ts"
import type { StandardSchema } from "../core/values/standard-schema.ts"
import type { Logger } from "../runtime/logger.ts"
import { type DeclaredOptions, type DeclaredSchedule, declareSchedule } from "./declared-schedule.ts"
import { checkAttempts } from "./one-attempt.ts"
import type { TaskContext } from "./task-context.ts"

/** A named piece of code, with an optional payload schema. Defining one starts nothing. `Returned`: the type `run` returns. */
export interface Task<Input = unknown, Output = Input, Returned = unknown> extends AnyTask {
  readonly payload: StandardSchema<Input, Output> | null
  /** Performs one attempt of a run. */
  run(context: TaskContext): Returned
  /** Declares a schedule of this task. Pass it to `createScheduler({ schedules })`. */
  schedule(id: string, options: DeclaredOptions<Input>): DeclaredSchedule
}

/** A task of any payload type, as schedulers and workers use it. */
export interface AnyTask {
  readonly name: string
  readonly payload: StandardSchema | null
  readonly retry: RetryPolicy
  readonly timeoutMs: number | null
  readonly leaseMs: number | null
  /** Default: at least once. */
  readonly delivery?: Delivery
  /** Performs one attempt of a run. */
  run(context: TaskContext): unknown
  /** Schedules that the task's own options declare. */
  readonly schedules?: readonly DeclaredSchedule[]
  /** See `TaskOptions`. */
  examine?(payload: unknown): unknown
  /** See `TaskOptions`. */
  close?(): unknown
  /** Called when a scheduler that performs the task has started. It isn't awaited and must not throw. */
  onStart?(logger: Logger): void
}

export interface TaskOptions<Input, Output, Returned = unknown> {
  readonly name: string
  /** Any Standard Schema (Zod, Valibot, ArkType). Checked when a schedule is declared, at enqueue and at run. */
  readonly payload?: StandardSchema<Input, Output>
  readonly retry?: RetryOptions
  /** Longest time for one attempt. */
  readonly timeout?: Duration
  /** How long a worker may be silent before another worker takes the run. Must exceed any blocking of the event loop. */
  readonly lease?: Duration
  /**
   * What happens to a run when its worker is lost. `at-least-once`, the default: the run is performed again. `at-most-once`: the
   * run fails, and only an operator can retry it.
   */
  readonly delivery?: Delivery
  /** Declares a schedule with the name of the task. `task.schedule` takes all options of a schedule. */
  readonly cron?: string
  readonly every?: Duration
  readonly timezone?: string
  /** Performs one attempt of a run. Its result is stored. */
  run(context: TaskContext<Output>): Returned
  /**
   * Called before a schedule is stored with this payload, by a process that knows the task. It throws or rejects if no run could
   * succeed, for example because the payload names something that doesn't exist. If that can't be found out, it returns.
   */
  examine?(payload: Output): unknown
  /**
   * Called when a scheduler with this task has stopped, to close resources that its runs have opened, such as a pool of
   * connections. A later run opens them again.
   */
  close?(): unknown
}

/** A shorter lease would end before its first heartbeat is answered. */
export const LEASE_MIN_MS = 100

/** With a longer lease, the runs of a dead worker would wait for more than a week. */
export const LEASE = duration({ min: LEASE_MIN_MS, max: 7 * DAY })

const SCHEMA: OptionType<StandardSchema> = {
  allowed: "a Standard Schema, such as Zod's or Valibot's",
  read(value, at) {
    // ArkType's schemas are functions.
    const isHolder = typeof value === "object" || typeof value === "function"
    const schema = isHolder ? (value as Partial<StandardSchema>)["~standard"] : undefined
    if (typeof schema?.validate === "function") return value as StandardSchema
    throw notAllowed(value, SCHEMA.allowed, at)
  },
}

/** A task itself, not its name. */
export const TASK: OptionType<AnyTask> = {
  allowed: "what defineTask returns",
  read(value, at) {
    const task = objectWith<AnyTask>(["name", "payload", "retry", "run"], TASK.allowed).read(value, at)
    if (task.payload !== null)
      SCHEMA.read(task.payload, { source: at.source, option: `${at.option}.payload` })
    return task
  },
}

export const TASK_OPTIONS = {
  name: required(TASK_NAME),
  payload: SCHEMA,
  retry: RETRY,
  timeout: duration({ min: 1 }),
  lease: LEASE,
  delivery: choice<Delivery>("at-least-once", "at-most-once"),
  cron: asGiven<string>(text({ min: 1, max: 256 })),
  every: asGiven<Duration>(duration()),
  timezone: asGiven<string>(text({ min: 1, max: 100 })),
  run: required(callback<(context: TaskContext) => unknown>()),
  examine: callback<(payload: unknown) => unknown>(),
  close: callback<() => unknown>(),
} satisfies Record<keyof TaskOptions<unknown, unknown>, OptionType<unknown>>

/** Defines a task. A task without a schema takes no payload. */
export function defineTask<Input = undefined, Output = Input, Returned = unknown>(
  options: TaskOptions<Input, Output, Returned>,
): Task<Input, Output, Returned> {
  const source = taskSource(options)
  const given = checked(options, TASK_OPTIONS, source)
  checkAttempts(given, given.retry, { source, option: "retry" })
  const task: Task<Input, Output, Returned> = {
    name: given.name,
    payload: (given.payload ?? null) as StandardSchema<Input, Output> | null,
    retry: given.retry ?? DEFAULT_RETRY,
    timeoutMs: given.timeout ?? null,
    leaseMs: given.lease ?? null,
    ...(given.delivery !== undefined && { delivery: given.delivery }),
    run: given.run as Task<Input, Output, Returned>["run"],
    ...(given.examine !== undefined && { examine: given.examine }),
    ...(given.close !== undefined && { close: given.close }),
    schedule: (id, declared) => declareSchedule(task, id, declared),
  }
  const when = timingOf(given, source)
  return when === null ? task : Object.assign(task, { schedules: [declareSchedule(task, task.name, when)] })
}

/** The timetable in the task's own options. Null: it has none. */
function timingOf(
  { name, cron, every, timezone }: Checked<typeof TASK_OPTIONS>,
  source: OptionSource,
): DeclaredOptions<unknown> | null {
  if (cron === undefined && every === undefined) {
    if (timezone === undefined) return null
    throw refusal({ source, option: "timezone" }, `needs cron, which is missing. ${SCHEDULE_APART}`)
  }
  if (cron !== undefined && every !== undefined)
    throw refusal(
      { source, option: "every" },
      `and cron are both given; give only one of them. ${SCHEDULE_APART}`,
    )
  if (!IS_SCHEDULE_ID.test(name))
    throw refusal(
      { source, option: "name" },
      `is also the id of the schedule, because cron or every is given, and an id has 1 to 200 letters, digits, "_" and "-". ${SCHEDULE_APART}`,
    )
  return {
    ...(cron === undefined ? {} : { cron }),
    ...(every === undefined ? {} : { every }),
    ...(timezone === undefined ? {} : { timezone }),
  }
}

const SCHEDULE_APART = "To declare the schedule apart from the task, use task.schedule(id, { … })"

function taskSource(options: { name?: unknown } | null | undefined): OptionSource {
  return { code: "BELFRY_TASK_INVALID", subject: `Task${shownName(options)}`, elsewhere }
}

function elsewhere(unknown: string): string | undefined {
  if (!Object.hasOwn(SCHEDULE_OPTIONS, unknown)) return undefined
  return "It is an option of a schedule: use task.schedule(id, { … }), and pass the result to createScheduler as one of `schedules`."
}

function shownName(options: { name?: unknown } | null | undefined): string {
  try {
    const name = options?.name
    return typeof name === "string" ? ` ${shown(name)}` : ""
  } catch {
    // A getter or a proxy threw. The check of the options reports that.
    return ""
  }
}
