import { assert } from "../core/errors.ts"
import type { RetryPolicy } from "../core/run/backoff.ts"
import { mayHaveBegun, mustBeConfirmed, NOT_REPEATED } from "../core/run/delivery.ts"
import {
  type Failure,
  fail,
  giveUp,
  isPoison,
  type Progress,
  poisonWords,
  type Run,
  type RunChange,
  release,
  succeed,
} from "../core/run/run.ts"
import { formatDuration } from "../core/time/duration.ts"
import { describeThrown } from "../core/values/thrown.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Store } from "../store/store.ts"
import { NO_OUTPUT, outputOf, reportsSuccess, retryRequestOf } from "../task/output.ts"
import { checkPayload, isAsync, payloadOrThrow } from "../task/payload.ts"
import { progressOf } from "../task/progress.ts"
import { type AbortCause, abortedBy, type RunAborted } from "../task/run-aborted.ts"
import type { AnyTask } from "../task/task.ts"
import type { TaskContext } from "../task/task-context.ts"
import { Completion } from "./completion.ts"
import { infoOf, lastSuccessOf } from "./run-info.ts"
import { RunLog } from "./run-log.ts"

/** Time for a task to return after its signal is aborted. Then its run is settled without its result. */
const ABORT_GRACE_MS = 5_000
const WORKER_STOPPED = "The worker was stopped"
const STOPPED_HALF_WAY =
  "The worker was stopped while it performed the run, and its task is performed at most once."

/** The engine's call of a task, as stack traces name it. Frames below it are the engine's and of no use to the task's author. */
const CALLER = "Execution.#call"

/** One attempt at one run, from claim to the change that ends it. */
export class Execution {
  readonly run: Run
  readonly leaseMs: number
  readonly #task: AnyTask
  readonly #store: Store
  readonly #clock: Clock
  readonly #onProgress: () => void
  readonly #withRetries: WithRetries
  readonly #log: RunLog
  // Made only if the task uses them, which most tasks don't: at tens of thousands of runs a second the cost is noticeable.
  #controller: AbortController | null = null
  #completion: Completion | null = null
  #abortedBy: RunAborted | null = null
  /** When the task was called and when it ended, by the monotonic clock. */
  #beganAt: number | null = null
  #endedAt: number | null = null
  #progress: Progress | null = null
  #storedProgress: Progress | null = null
  /** Set while the task is running. */
  #end: ((ending: Ending) => void) | null = null
  #cancelGrace: (() => void) | null = null

  constructor(about: {
    run: Run
    task: AnyTask
    store: Store
    clock: Clock
    leaseMs: number
    onProgress: () => void
    withRetries: WithRetries
  }) {
    this.run = about.run
    this.leaseMs = about.leaseMs
    this.#task = about.task
    this.#store = about.store
    this.#clock = about.clock
    this.#onProgress = about.onProgress
    this.#withRetries = about.withRetries
    const { id: runId, attempt } = about.run
    this.#log = new RunLog({ store: about.store, clock: about.clock, runId, attempt })
  }

  /**
   * Tells the task to stop. After `lease-lost` and `cancelled` the attempt may no longer change the run. The first cause counts.
   * A later `stopping` only ends the grace period. Once the task has ended, only the store's answer decides.
   */
  abort(why: AbortCause): void {
    if (this.#endedAt !== null) return
    const isFirst = this.#abortedBy === null
    if (!isFirst && why !== "stopping") return
    this.#abortedBy ??= abortedBy(why)
    if (isFirst) this.#controller?.abort(this.#abortedBy)
    // A worker that stops gives its runs back at once, without waiting for their tasks to return.
    this.#endWithin(why === "stopping" ? 0 : ABORT_GRACE_MS)
  }

  get isAborted(): boolean {
    return this.#abortedBy !== null
  }

  get wasCancelled(): boolean {
    return this.#abortedBy?.why === "cancelled"
  }

  /** Whether the task was called. */
  get hasBegun(): boolean {
    return this.#beganAt !== null
  }

  /** How long the task took; 0 if it wasn't called. */
  get durationMs(): number {
    return this.#beganAt === null ? 0 : (this.#endedAt ?? this.#clock.monotonic()) - this.#beganAt
  }

  /** Progress for the next heartbeat. Null: nothing new. */
  get unsentProgress(): Progress | null {
    return this.#progress === this.#storedProgress ? null : this.#progress
  }

  onProgressStored(progress: Progress): void {
    this.#storedProgress = progress
  }

  /** Why a claimed run must not be performed. Null: it may be. */
  get reasonNotToPerform(): string | null {
    if (isPoison(this.run)) return poisonWords(this.run)
    return this.#isAtMostOnce && mayHaveBegun(this.run) ? NOT_REPEATED : null
  }

  /** Whether the store must answer a heartbeat for this attempt before the task is called. */
  get mustBeConfirmed(): boolean {
    return mustBeConfirmed(this.run, this.#task.delivery ?? "at-least-once")
  }

  get #isAtMostOnce(): boolean {
    return this.#task.delivery === "at-most-once"
  }

  /** Called once. Returns the change that ends the attempt. Null: this attempt may no longer change the run. */
  async perform(): Promise<RunChange | null> {
    if (this.#abortedBy !== null) return this.#changeFor({ kind: "aborted" })
    const reason = this.reasonNotToPerform
    if (reason !== null) return giveUp(this.run, reason)
    this.#beganAt = this.#clock.monotonic()
    const timeoutMs = this.#timeoutMs
    const cancelTimeout =
      timeoutMs === null ? null : this.#clock.setTimer(timeoutMs, () => this.abort("timeout"))
    const ending = await this.#ending()
    this.#endedAt = this.#clock.monotonic()
    this.#end = null
    cancelTimeout?.()
    this.#cancelGrace?.()
    if (!this.#log.isFlushed) await this.#log.flush()
    // A committed completion is the end of the run, even if the task threw or was aborted after the commit.
    const completion = this.#completion
    const committed = completion === null ? null : await this.#withRetries(() => completion.committed())
    return committed ?? this.#withProgress(this.#changeFor(ending))
  }

  /** Unsent progress goes with the end of the attempt, because no heartbeat follows it. */
  #withProgress<Change extends RunChange | null>(change: Change): Change {
    const progress = this.unsentProgress
    return change === null || progress === null ? change : { ...change, progress }
  }

  /** The task's own end, or `aborted` if the task doesn't return within the grace period after an abort. */
  #ending(): Promise<Ending> {
    return new Promise((resolve) => {
      this.#end = resolve
      void this.#call()
    })
  }

  #endWithin(graceMs: number): void {
    if (this.#end === null) return
    this.#cancelGrace?.()
    this.#cancelGrace = this.#clock.setTimer(graceMs, () => this.#end?.({ kind: "aborted" }))
  }

  /** Never rejects: an error thrown by the task is an ending, too. */
  async #call(): Promise<void> {
    try {
      const checked = checkPayload(this.#task, this.run.payload)
      const payload = payloadOrThrow(this.#task, isAsync(checked) ? await checked : checked)
      this.#end?.({ kind: "returned", value: await this.#task.run(this.#contextWith(payload)) })
    } catch (thrown) {
      this.#end?.({ kind: "thrown", thrown })
    }
  }

  #changeFor(ending: Ending): RunChange | null {
    const { run } = this
    const why = this.#abortedBy?.why
    if (why === "cancelled" || why === "lease-lost") return null
    if (ending.kind === "returned" && this.#completion?.wasCalled === true) {
      const error = "complete() was called, but its transaction was not committed"
      return this.#fail({ outcome: "failed", error, retry: "policy", output: NO_OUTPUT })
    }
    if (ending.kind === "returned" && !this.#isStoppedBySignal(ending.value))
      return this.#changeBy(ending.value)
    if (why === "stopping" && !(this.#isAtMostOnce && this.hasBegun)) return release(run, WORKER_STOPPED)
    if (why === "stopping")
      return this.#fail({ outcome: "failed", error: STOPPED_HALF_WAY, retry: "never", output: NO_OUTPUT })
    if (why === "timeout") {
      const error = `Timed out after ${formatDuration(this.#timeoutMs ?? 0)}`
      return this.#fail({ outcome: "timeout", error, retry: "policy", output: NO_OUTPUT })
    }
    assert(ending.kind === "thrown", "an aborted attempt has one of the four causes above")
    const { thrown } = ending
    return this.#fail({ outcome: "failed", error: describeThrown(thrown, CALLER), ...retryRequestOf(thrown) })
  }

  /**
   * True if a task returned because it was told to stop: it has used its signal and doesn't report success. A task that checks
   * `signal.aborted` and returns must not end a run whose work is half done.
   */
  #isStoppedBySignal(returned: unknown): boolean {
    return this.#abortedBy !== null && this.#controller !== null && !reportsSuccess(returned)
  }

  /** The change for a task's result. */
  #changeBy(result: unknown): RunChange {
    const { isSuccess, output } = outputOf(result)
    if (isSuccess) return succeed(this.run, output)
    const error = output.message ?? "The task reported failure"
    return this.#fail({ outcome: "failed", error, retry: "policy", output })
  }

  /** Replaces an end that the store can't keep. */
  failUnstorable(why: string): RunChange {
    const error = `The run's end can't be stored: ${why}`
    return this.#fail({ outcome: "failed", error, retry: "never", output: NO_OUTPUT })
  }

  #fail(failure: Failure): RunChange {
    const decided = this.#isAtMostOnce ? { ...failure, retry: "never" as const } : failure
    return fail(this.run, decided, this.#retryPolicy, this.#clock.random())
  }

  get #retryPolicy(): RetryPolicy {
    return this.run.retry ?? this.#task.retry
  }

  get #timeoutMs(): number | null {
    return this.run.timeoutMs ?? this.#task.timeoutMs
  }

  #contextWith(payload: unknown): TaskContext {
    const execution = this
    return {
      payload,
      run: infoOf(this.run, this.#retryPolicy),
      log: this.#log,
      get signal() {
        return execution.#signal()
      },
      progress: (fraction, message) => this.#setProgress(fraction, message),
      complete: (transaction, result) => {
        this.#completion ??= new Completion(this.run, this.#store)
        return this.#completion.make(transaction, this.#withProgress(this.#changeBy(result)))
      },
      lastSuccess: () => lastSuccessOf(this.#store, this.run.scheduleId),
    }
  }

  #signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#abortedBy !== null) this.#controller.abort(this.#abortedBy)
    }
    return this.#controller.signal
  }

  #setProgress(fraction: number, message: string | undefined): void {
    const progress = progressOf(fraction, message)
    this.#onProgress()
    this.#progress = progress
  }
}

/** Repeats a question to the store until it is answered or the tries are used up. */
type WithRetries = <T>(question: () => Promise<T>) => Promise<T>

type Ending =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "thrown"; readonly thrown: unknown }
  | { readonly kind: "aborted" }
