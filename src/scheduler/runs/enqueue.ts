import { checked, checkedValue, type Kind, type OptionSource, refusal } from "../../core/checked.ts"
import type { Duration } from "../../core/duration.ts"
import { type Json, toPayload } from "../../core/json.ts"
import { duration, instant, list, made, payload, record, remark, required, unread } from "../../core/kinds.ts"
import { CONCURRENCY, KEY, RUN_ID, TASK_NAME, taskOr } from "../../core/limits.ts"
import { isOccurrenceId } from "../../core/occurrence.ts"
import type { PriorityOption, RetryOptions, When } from "../../core/options.ts"
import { PRIORITY, RETRY } from "../../core/policies.ts"
import type { NewRun } from "../../core/run.ts"
import type { Clock } from "../../runtime/clock.ts"
import type { PayloadOption } from "../../task/declared-schedule.ts"
import { validatePayload } from "../../task/payload.ts"
import { type AnyTask, TASK } from "../../task/task.ts"
import { checkTakesPayload } from "../schedules/payload-check.ts"
import type { RunView } from "../views.ts"

/** What is asked of one run; the payload may be left out where the task accepts nothing. */
export type EnqueueOptions<Input = unknown> = RunOptions & PayloadOption<Input>

export interface RunOptions {
  /**
   * Enqueuing the same id again does nothing, as long as the run is in the history. Ids that begin with `<schedule>@<instant>`
   * belong to occurrences and are refused.
   */
  readonly id?: string
  readonly delay?: Duration
  /** Not before this time. */
  readonly at?: When
  readonly priority?: PriorityOption
  /** While an unfinished run has this key, another with the same key is not stored. */
  readonly key?: string
  /** At most `limit` runs with this key are performed at once, over all workers. */
  readonly concurrency?: { readonly key: string; readonly limit: number }
  readonly retry?: RetryOptions
  readonly timeout?: Duration
  /** Who asks. */
  readonly by?: string
}

/** The arguments after the task. */
export type EnqueueArguments<Input> = undefined extends Input
  ? [options?: EnqueueOptions<Input>]
  : [options: EnqueueOptions<Input>]

export interface Enqueued {
  /** `exists`: a run of that id is there. `held`: an unfinished run has that key. */
  readonly outcome: "created" | "exists" | "held"
  /** The run that is there now. */
  readonly runId: string
}

/** What `enqueue` returns. */
export interface EnqueuedRun<Details = Json> extends Enqueued {
  /** As `runs.wait` does: when the run has finished; null if it hasn't within the time given. */
  wait(options?: { timeout?: Duration }): Promise<RunView<Details> | null>
}

/** The answer, with what can be asked of it. Whoever prints or compares it sees the answer alone. */
export function enqueuedRun(
  answer: Enqueued,
  wait: (id: string, options?: { timeout?: Duration }) => Promise<RunView | null>,
): EnqueuedRun {
  const value = (options?: { timeout?: Duration }) => wait(answer.runId, options)
  return Object.defineProperty({ ...answer }, "wait", { value }) as EnqueuedRun
}

/** A run with the id of an occurrence to come would count as that occurrence's run, and its task would never be performed. */
const OWN_RUN_ID: Kind<string> = {
  ...made(RUN_ID, (id, at) => {
    if (!isOccurrenceId(id)) return id
    const problem = `is "${id}", and ids that begin with "<schedule>@<instant>" belong to occurrences; use another`
    throw refusal(at, problem, { value: id })
  }),
  allowed: `${RUN_ID.allowed}; not one that begins as an occurrence's id does, \`<schedule>@<instant>\``,
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
} satisfies Record<keyof EnqueueOptions, Kind<unknown>>

const SOURCE: OptionSource = { code: "BELFRY_RUN_INVALID", subject: "enqueue" }

/** Checks everything before anything is stored; the payload by the task's schema, where this process knows the task. */
export async function newRunFor(
  asked: AnyTask | string,
  about: { options: EnqueueOptions; clock: Clock; tasks: ReadonlyMap<string, AnyTask> },
): Promise<NewRun> {
  const task = checkedValue(asked, required(taskOr(TASK_NAME)), { source: SOURCE, option: "task" })
  const known =
    typeof asked === "string"
      ? about.tasks.get(task)
      : checkedValue(asked, required(TASK), { source: SOURCE, option: "task" })
  const given = checked(about.options, ENQUEUE_OPTIONS, SOURCE)
  const stored = toPayload(given.payload, `Payload of task "${task}"`)
  if (known !== undefined) checkTakesPayload(known, stored)
  // In the form it is stored in: what JSON changes (a Date, say) must show here, not at the run.
  if (known !== undefined) await validatePayload(known, stored)
  const { key, concurrency } = given
  return {
    id: given.id ?? about.clock.newId(),
    task,
    payload: stored,
    priority: given.priority ?? 0,
    scheduleId: null,
    scheduledFor: null,
    parentId: null,
    triggeredBy: "api",
    trigger: null,
    missed: null,
    // Prefixed, so that no key of a user's can meet one of a schedule's.
    liveKey: key === undefined ? null : `key:${key}`,
    concurrencyKey: concurrency === undefined ? null : `key:${concurrency.key}`,
    concurrencyLimit: concurrency?.limit ?? null,
    retry: given.retry ?? null,
    timeoutMs: given.timeout ?? null,
    reason: null,
    by: given.by ?? null,
    state: "pending",
    delayMs: given.delay ?? 0,
    notBefore: given.at ?? null,
    message: null,
  }
}

/** All are checked before any is stored. */
export async function newRunsFor(
  task: AnyTask | string,
  runs: readonly EnqueueOptions[],
  parts: { clock: Clock; tasks: ReadonlyMap<string, AnyTask> },
): Promise<readonly NewRun[]> {
  checkedValue(runs, required(MANY), { source: SOURCE, option: "runs" })
  return Promise.all(runs.map((options) => newRunFor(task, { ...parts, options })))
}

/** More at once would need more memory than a program expects. */
const MANY = list(unread, { max: 100_000 })
