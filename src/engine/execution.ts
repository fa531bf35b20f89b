import type { RetryPolicy } from "../core/backoff.ts"
import { mayHaveBegun, NOT_REPEATED } from "../core/delivery.ts"
import { formatDuration } from "../core/duration.ts"
import { assert, BelfryError } from "../core/errors.ts"
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
} from "../core/run.ts"
import { shown, textFrom } from "../core/shown.ts"
import { describeThrown, storable } from "../core/thrown.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Store } from "../store/store.ts"
import { askedBy, NO_OUTPUT, outputOf, reportsSuccess } from "../task/output.ts"
import { checkPayload, isLater, payloadOrThrow } from "../task/payload.ts"
import { type AbortCause, abortedBy, type RunAborted } from "../task/run-aborted.ts"
import type { AnyTask } from "../task/task.ts"
import type { TaskContext } from "../task/task-context.ts"
import { Completion } from "./completion.ts"
import { infoOf, lastSuccessOf } from "./run-info.ts"
import { RunLog } from "./run-log.ts"

/** After its signal is aborted, a task has this long to return before its run is settled without it. */
const ABORT_GRACE_MS = 5_000
const PROGRESS_MESSAGE_MAX_BYTES = 1_024
const WORKER_STOPPED = "The worker was stopped"
const STOPPED_HALF_WAY =
  "The worker was stopped while it performed the run, and its task is performed at most once."

/** Where the engine calls a task, as stacks name it: what lies below is ours, and of no use to the task's author. */
const CALLER = "Execution.#call"

/** One attempt at one run, from claim to the change that ends it. */
export class Execution {
  readonly run: Run
  readonly leaseMs: number
  readonly #task: AnyTask
  readonly #store: Store
  readonly #clock: Clock
  readonly #onProgress: () => void
  readonly #insist: Insist
  readonly #log: RunLog
  // Most tasks never ask for these, and then they are never made: at tens of thousands of runs a second it shows.
  #controller: AbortController | null = null
  #completion: Completion | null = null
  #abortedBy: RunAborted | null = null
  /** When the task was called, and when it ended: by the monotonic clock. */
  #beganAt: number | null = null
  #endedAt: number | null = null
  #progress: Progress | null = null
  #storedProgress: Progress | null = null
  /** While the task is performing. */
  #end: ((ending: Ending) => void) | null = null
  #cancelGrace: (() => void) | null = null

  constructor(about: {
    run: Run
    task: AnyTask
    store: Store
    clock: Clock
    leaseMs: number
    onProgress: () => void
    insist: Insist
  }) {
    this.run = about.run
    this.leaseMs = about.leaseMs
    this.#task = about.task
    this.#store = about.store
    this.#clock = about.clock
    this.#onProgress = about.onProgress
    this.#insist = about.insist
    const { id: runId, attempt } = about.run
    this.#log = new RunLog({ store: about.store, clock: about.clock, runId, attempt })
  }

  /**
   * Tells the task to stop. `lease-lost` and `cancelled` also take away the right to change the run. The first cause counts; a
   * later `stopping` only ends the grace.
   */
  abort(why: AbortCause): void {
    const isFirst = this.#abortedBy === null
    if (!isFirst && why !== "stopping") return
    this.#abortedBy ??= abortedBy(why)
    if (isFirst) this.#controller?.abort(this.#abortedBy)
    // A run that must be given back at once isn't kept for the sake of a handler's last words.
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

  /** What the next heartbeat should carry; null if there is nothing new. */
  get unsentProgress(): Progress | null {
    return this.#progress === this.#storedProgress ? null : this.#progress
  }

  onProgressStored(progress: Progress): void {
    this.#storedProgress = progress
  }

  /** Why it must not be performed, though it was claimed; null if it may be. */
  get hopeless(): string | null {
    if (isPoison(this.run)) return poisonWords(this.run)
    return this.#isAtMostOnce && mayHaveBegun(this.run) ? NOT_REPEATED : null
  }

  get #isAtMostOnce(): boolean {
    return this.#task.delivery === "at-most-once"
  }

  /** Once. Answers the change to make, or null if the run is no longer ours to change. */
  async perform(): Promise<RunChange | null> {
    if (this.#abortedBy !== null) return this.#changeFor({ kind: "aborted" })
    const hopeless = this.hopeless
    if (hopeless !== null) return giveUp(this.run, hopeless)
    this.#beganAt = this.#clock.monotonic()
    const timeoutMs = this.#timeoutMs
    const cancelTimeout =
      timeoutMs === null ? null : this.#clock.setTimer(timeoutMs, () => this.abort("timeout"))
    const ending = await this.#ending()
    this.#endedAt = this.#clock.monotonic()
    this.#end = null
    cancelTimeout?.()
    this.#cancelGrace?.()
    if (!this.#log.isAtRest) await this.#log.flush()
    // Whatever came after the commit: what is committed is done.
    const completion = this.#completion
    const committed = completion === null ? null : await this.#insist(() => completion.committed())
    return committed ?? this.#withProgress(this.#changeFor(ending))
  }

  /** The last progress goes with the end of the attempt: no heartbeat comes after it. */
  #withProgress<Change extends RunChange | null>(change: Change): Change {
    const progress = this.unsentProgress
    return change === null || progress === null ? change : { ...change, progress }
  }

  /** Whichever comes first: the task's own end, or an abort that it doesn't follow within its grace. */
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

  /** Never rejects: whatever a task throws is an ending. */
  async #call(): Promise<void> {
    try {
      const checked = checkPayload(this.#task, this.run.payload)
      const payload = payloadOrThrow(this.#task, isLater(checked) ? await checked : checked)
      this.#end?.({ kind: "returned", value: await this.#task.run(this.#contextWith(payload)) })
    } catch (thrown) {
      this.#end?.({ kind: "thrown", thrown })
    }
  }

  #changeFor(ending: Ending): RunChange | null {
    const { run } = this
    const why = this.#abortedBy?.why
    if (why === "cancelled" || why === "lease-lost") return null
    if (ending.kind === "returned" && this.#completion?.wasAsked === true) {
      const error = "complete() was called, and its transaction was not committed"
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
    assert(ending.kind === "thrown", "what aborts an attempt is one of the four above")
    const { thrown } = ending
    return this.#fail({ outcome: "failed", error: describeThrown(thrown, CALLER), ...askedBy(thrown) })
  }

  /**
   * Whether a task that returned did so because it was told to stop: it knows its signal, and doesn't say that it succeeded all the
   * same. To look at `signal.aborted` and return must not end a run whose work is half done.
   */
  #isStoppedBySignal(returned: unknown): boolean {
    return this.#abortedBy !== null && this.#controller !== null && !reportsSuccess(returned)
  }

  /** What a task's result makes of its run. */
  #changeBy(result: unknown): RunChange {
    const { isSuccess, output } = outputOf(result)
    if (isSuccess) return succeed(this.run, output)
    const error = output.message ?? "The task reported failure"
    return this.#fail({ outcome: "failed", error, retry: "policy", output })
  }

  /** Instead of an end that the store can't keep. */
  failRefused(why: string): RunChange {
    const error = `The run's end can't be stored: ${why}`
    return this.#fail({ outcome: "failed", error, retry: "never", output: NO_OUTPUT })
  }

  #fail(failure: Failure): RunChange {
    const repeated = this.#isAtMostOnce ? { ...failure, retry: "never" as const } : failure
    return fail(this.run, repeated, this.#retryPolicy, this.#clock.random())
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
    if (!Number.isFinite(fraction))
      throw new BelfryError("BELFRY_RUN_INVALID", `Progress ${shown(fraction)} is not a number.`)
    this.#onProgress()
    this.#progress = {
      fraction: Math.min(1, Math.max(0, fraction)),
      message: message === undefined ? null : storable(textFrom(message), PROGRESS_MESSAGE_MAX_BYTES),
    }
  }
}

/** Asks the store again if it doesn't answer. */
type Insist = <T>(question: () => Promise<T>) => Promise<T>

type Ending =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "thrown"; readonly thrown: unknown }
  | { readonly kind: "aborted" }
