import type { HeldRun, Store, Worker as WorkerRecord } from "../store/store.ts"
import type { Clock } from "./clock.ts"
import type { Events } from "./events.ts"
import type { Execution } from "./execution.ts"
import type { Logger } from "./logger.ts"
import { Loop } from "./loop.ts"

/** Progress is stored at most this often. */
const PROGRESS_EVERY_MS = 1_000

/**
 * One heartbeat for all that a worker holds. It beats three times a lease while anything is held, and rarely otherwise.
 * It also watches its own failures: a lease that wasn't extended in time is treated as lost before it has ended, because
 * another worker may take the run in that very moment.
 */
export class Heart {
  readonly #context: HeartContext
  readonly #loop: Loop
  /** By our own monotonic clock: when each lease, if not extended, must be given up. */
  readonly #deadlines = new Map<Execution, number>()
  #cancelWatch: (() => void) | null = null
  #cancelFirstBeat: (() => void) | null = null

  constructor(context: HeartContext) {
    this.#context = context
    this.#loop = new Loop({
      clock: context.clock,
      longestSleepMs: context.pollMs,
      turn: () => this.#beat(),
      onFault: (error, count) => {
        if (count === 1)
          context.logger.error({ component: "heartbeat", error }, "The heartbeat fails; trying again")
        context.events.error(error, "heartbeat")
      },
      onRecovery: () => context.logger.info({ component: "heartbeat" }, "The heart beats again"),
    })
  }

  start(): void {
    this.#loop.start()
  }

  wake(): void {
    this.#loop.wake()
  }

  /** The last beat says goodbye. If it gets lost the worker's record simply grows old. */
  async stop(): Promise<void> {
    this.#cancelWatch?.()
    this.#cancelFirstBeat?.()
    await this.#loop.stop()
    try {
      await this.#context.store.heartbeat({ worker: this.#context.describe(), isLeaving: true, held: [] })
    } catch (error) {
      this.#context.events.error(error, "heartbeat")
    }
  }

  /** Counts from before the claim was answered, so it errs on the early side. */
  hold(execution: Execution): void {
    this.#extend(execution, this.#context.clock.monotonic())
    this.#watch()
    // The loop may be asleep for as long as an idle worker may be. Most runs end before their first beat is due.
    this.#cancelFirstBeat ??= this.#context.clock.setTimer(execution.leaseMs / 3, () => {
      this.#cancelFirstBeat = null
      if (this.#deadlines.size > 0) this.#loop.wake()
    })
  }

  release(execution: Execution): void {
    this.#deadlines.delete(execution)
  }

  async #beat(): Promise<number> {
    const { store, running, clock } = this.#context
    const held = [...running.values()].filter((execution) => !execution.isAborted)
    const sentAt = clock.monotonic()
    const answer = await store.heartbeat({
      worker: this.#context.describe(),
      isLeaving: false,
      held: held.map(heldRunOf),
    })
    const gone = new Map(answer.gone.map((entry) => [`${entry.runId} ${entry.attempt}`, entry.why]))
    for (const execution of held) {
      const why = gone.get(`${execution.run.id} ${execution.run.attempt}`)
      if (why === undefined) this.#extend(execution, sentAt)
      else this.#lose(execution, why)
    }
    this.#watch()
    return this.#rhythm()
  }

  #lose(execution: Execution, why: "cancelled" | "lost"): void {
    this.#deadlines.delete(execution)
    if (why === "cancelled") this.#context.events.emit({ type: "cancelled", runId: execution.run.id })
    execution.abort(why === "cancelled" ? "cancelled" : "lease-lost")
  }

  #rhythm(): number {
    const executions = [...this.#deadlines.keys()]
    if (executions.length === 0) return Number.POSITIVE_INFINITY
    const third = Math.min(...executions.map((execution) => execution.leaseMs)) / 3
    return executions.some((execution) => execution.hasProgress) ? Math.min(PROGRESS_EVERY_MS, third) : third
  }

  #extend(execution: Execution, since: number): void {
    if (!execution.isAborted) this.#deadlines.set(execution, since + execution.leaseMs * 0.9)
  }

  /** One timer, to the deadline that was earliest when it was set: deadlines only move back, so it is never too late. */
  #watch(): void {
    if (this.#cancelWatch !== null || this.#deadlines.size === 0) return
    const delayMs = Math.max(0, Math.min(...this.#deadlines.values()) - this.#context.clock.monotonic())
    this.#cancelWatch = this.#context.clock.setTimer(delayMs, () => {
      this.#cancelWatch = null
      const now = this.#context.clock.monotonic()
      for (const [execution, deadline] of this.#deadlines) if (deadline <= now) this.#lose(execution, "lost")
      this.#watch()
    })
  }
}

export interface HeartContext {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly events: Events
  readonly pollMs: number
  readonly running: ReadonlyMap<string, Execution>
  describe(): Omit<WorkerRecord, "startedAt" | "heartbeatAt" | "running">
}

function heldRunOf(execution: Execution): HeldRun {
  return {
    runId: execution.run.id,
    attempt: execution.run.attempt,
    leaseMs: execution.leaseMs,
    progress: execution.progress,
  }
}
