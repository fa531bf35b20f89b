import {
  checked,
  checkedValue,
  type OptionSource,
  type OptionType,
  refusal,
} from "../../core/options/checked.ts"
import { CONCURRENCY, KEY, RUN_ID, TASK_NAME, taskOr } from "../../core/options/limits.ts"
import {
  duration,
  instant,
  list,
  mapped,
  payload,
  record,
  remark,
  required,
  unread,
} from "../../core/options/option-types.ts"
import type { PriorityOption, RetryOptions, When } from "../../core/options/options.ts"
import { PRIORITY, RETRY } from "../../core/options/policies.ts"
import { isOccurrenceId } from "../../core/planning/occurrence.ts"
import type { NewRun } from "../../core/run/run.ts"
import type { Duration } from "../../core/time/duration.ts"
import { type Json, toPayload } from "../../core/values/json.ts"
import type { Clock } from "../../runtime/clock.ts"
import type { PayloadOption } from "../../task/declared-schedule.ts"
import { checkAttempts } from "../../task/one-attempt.ts"
import { checkPayload, isAsync, payloadOrThrow } from "../../task/payload.ts"
import { type AnyTask, TASK } from "../../task/task.ts"
import { checkTakesPayload } from "../schedules/payload-check.ts"
import type { RunView } from "../views.ts"

/** The options of one run. The payload may be omitted if the task accepts `undefined`. */
export type EnqueueOptions<Input = unknown> = RunOptions & PayloadOption<Input>

export interface RunOptions {
  /**
   * Enqueuing the same id again has no effect, as long as the run is in the history. Ids that begin with `<schedule>@<instant>`
   * are reserved for occurrences and are refused.
   */
  readonly id?: string
  /** The run starts after this time at the earliest. Give either `delay` or `at`. */
  readonly delay?: Duration
  /** The run starts at this time at the earliest. */
  readonly at?: When
  readonly priority?: PriorityOption
  /** While a run with this key is unfinished, no second run with the key is stored. */
  readonly key?: string
  /** At most `limit` runs with this key are performed at once, across all workers. */
  readonly concurrency?: { readonly key: string; readonly limit: number }
  readonly retry?: RetryOptions
  readonly timeout?: Duration
  /** The name of the person or program that asks. */
  readonly by?: string
}

/** The arguments of `enqueue` after the task. */
export type EnqueueArguments<Input> = undefined extends Input
  ? [options?: EnqueueOptions<Input>]
  : [options: EnqueueOptions<Input>]

export interface Enqueued {
  /** `exists`: a run with that id exists. `held`: an unfinished run has that key. */
  readonly outcome: "created" | "exists" | "held"
  /** The id of the new run, or of the existing one. */
  readonly runId: string
}

/** The result of `enqueue`. */
export interface EnqueuedRun<Details = Json> extends Enqueued {
  /** Like `runs.wait`: resolves when the run has finished. Null: it has not finished within the timeout. */
  wait(options?: { timeout?: Duration }): Promise<RunView<Details> | null>
}

/** Adds `wait` to the answer. The property is not enumerable, so printing and comparing show the answer only. */
export function enqueuedRun(
  answer: Enqueued,
  wait: (id: string, options?: { timeout?: Duration }) => Promise<RunView | null>,
): EnqueuedRun {
  const value = (options?: { timeout?: Duration }) => wait(answer.runId, options)
  return Object.defineProperty({ ...answer }, "wait", { value }) as EnqueuedRun
}

/** A run with the id of a future occurrence would count as the run of that occurrence, which then would never be performed. */
const OWN_RUN_ID: OptionType<string> = {
  ...mapped(RUN_ID, (id, at) => {
    if (!isOccurrenceId(id)) return id
    const problem = `is "${id}", but ids that begin with "<schedule>@<instant>" are reserved for occurrences; use another id`
    throw refusal(at, problem, { value: id })
  }),
  allowed: `${RUN_ID.allowed}; must not begin like the id of an occurrence, \`<schedule>@<instant>\``,
}

export const ENQUEUE_OPTIONS = {
  payload,
  id: OWN_RUN_ID,
  delay: duration(),
  at: instant,
  priority: PRIORITY,
  key: KEY,
  concurrency: record({ key: required(KEY), limit: required(CONCURRENCY) }),
  retry: RETRY,
  timeout: duration({ min: 1 }),
  by: remark,
} satisfies Record<keyof EnqueueOptions, OptionType<unknown>>

const SOURCE: OptionSource = { code: "BELFRY_RUN_INVALID", subject: "enqueue" }

export async function newRunFor(
  task: AnyTask | string,
  { options, ...parts }: { options: EnqueueOptions; clock: Clock; tasks: ReadonlyMap<string, AnyTask> },
): Promise<NewRun> {
  const [run] = await newRunsFor(task, [options], parts)
  return run!
}

/** Checks all runs before any is stored. Payloads are checked by the task's schema if this process defines the task. */
export async function newRunsFor(
  given: AnyTask | string,
  runs: readonly EnqueueOptions[],
  { clock, tasks }: { clock: Clock; tasks: ReadonlyMap<string, AnyTask> },
): Promise<readonly NewRun[]> {
  checkedValue(runs, required(MANY), { source: SOURCE, option: "runs" })
  const task = checkedValue(given, required(taskOr(TASK_NAME)), { source: SOURCE, option: "task" })
  const known =
    typeof given === "string"
      ? tasks.get(task)
      : checkedValue(given, required(TASK), { source: SOURCE, option: "task" })
  // Array.from also visits the holes of a sparse array.
  const newRuns = Array.from(runs, (options) => newRunOf(task, options, clock))
  for (const { retry } of newRuns) checkAttempts(known, retry, { source: SOURCE, option: "retry" })
  if (known !== undefined) await checkPayloads(known, newRuns)
  return newRuns
}

function newRunOf(task: string, given: EnqueueOptions, clock: Clock): NewRun {
  const options = checked(given, ENQUEUE_OPTIONS, SOURCE)
  const { key, concurrency, delay, at } = options
  if (delay !== undefined && at !== undefined)
    throw refusal({ source: SOURCE, option: "delay" }, "and at are both given; give only one of them")
  return {
    id: options.id ?? clock.newId(),
    task,
    payload: toPayload(options.payload, `Payload of task "${task}"`),
    priority: options.priority ?? 0,
    scheduleId: null,
    scheduledFor: null,
    parentId: null,
    triggeredBy: "api",
    trigger: null,
    missed: null,
    // The prefix keeps keys of users apart from keys of schedules.
    liveKey: key === undefined ? null : `key:${key}`,
    concurrencyKey: concurrency === undefined ? null : `key:${concurrency.key}`,
    concurrencyLimit: concurrency?.limit ?? null,
    retry: options.retry ?? null,
    timeoutMs: options.timeout ?? null,
    reason: null,
    by: options.by ?? null,
    state: "pending",
    delayMs: delay ?? 0,
    notBefore: at ?? null,
    message: null,
  }
}

/** Checks the stored form: a value that JSON changes, such as a Date, must be refused here and not when the run starts. */
async function checkPayloads(task: AnyTask, runs: readonly NewRun[]): Promise<void> {
  const later: Promise<unknown>[] = []
  for (const { payload } of runs) {
    checkTakesPayload(task, payload)
    const result = checkPayload(task, payload)
    // A promise for each run would double the cost of 100,000 runs. Most schemas answer at once.
    if (isAsync(result)) {
      const checking = Promise.resolve(result).then((settled) => payloadOrThrow(task, settled))
      // If a later payload is refused at once, nothing waits for this promise, and its rejection would end the process.
      checking.catch(() => undefined)
      later.push(checking)
    } else payloadOrThrow(task, result)
  }
  await Promise.all(later)
}

/** More runs in one call would need more memory than a program expects. */
const MANY = list(unread, { max: 100_000 })
