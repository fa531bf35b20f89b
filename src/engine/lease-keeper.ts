import { nextBeatInMs } from "../core/records/worker-liveness.ts"
import { describeThrown } from "../core/values/thrown.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Heartbeat, HeartbeatAnswer, HeldRun, Store, WorkerDescription } from "../store/store.ts"
import { Alarm } from "./alarm.ts"
import type { Events } from "./events.ts"
import type { Execution } from "./execution.ts"
import { Loop, loopReports } from "./loop.ts"
import type { StatisticsBuffer } from "./statistics-buffer.ts"
import type { TimeLimit } from "./time-limit.ts"

/** The share of a lease that a worker relies on. The rest allows for clock differences and answers in transit. */
const USABLE_SHARE = 0.9

/** Progress is collected for this long before it is stored. */
const PROGRESS_AFTER_MS = 1_000

/**
 * Sends one heartbeat for all runs that a worker holds: three times per lease while it holds any, rarely otherwise.
 * A lease that wasn't extended in time is treated as lost before it ends, because another worker may take the run as soon as
 * it has ended. An attempt that hasn't begun isn't lost but may no longer begin: the store may count it as begun, and only its
 * worker knows that it wasn't, so the worker gives it back.
 */
export class LeaseKeeper {
  readonly #context: LeaseKeeperContext
  readonly #loop: Loop
  /** The held executions, and when each lease must be given up unless it is extended: by the monotonic clock. */
  readonly #deadlines = new Map<Execution, number>()
  /** Attempts that wait for the store's confirmation. Their tasks haven't been called, so the wait may outlast the lease. */
  readonly #unconfirmed = new Map<Execution, () => void>()
  readonly #deadlineAlarm: Alarm
  readonly #beatAlarm: Alarm

  constructor(context: LeaseKeeperContext) {
    this.#context = context
    this.#deadlineAlarm = new Alarm(context.clock, () => this.#giveUpOverdue())
    this.#beatAlarm = new Alarm(context.clock, () => {
      if (this.#deadlines.size > 0 || context.statistics.hasUnstored) this.#loop.wake()
    })
    this.#loop = new Loop({
      clock: context.clock,
      longestSleepMs: context.pollMs,
      turn: () => this.#beat(),
      ...loopReports(context, {
        component: "heartbeat",
        fault: "The heartbeat fails; trying again",
        recovery: "Heartbeats are stored again",
      }),
    })
  }

  start(): void {
    this.#loop.start()
  }

  wake(): void {
    this.#loop.wake()
  }

  async stop(limit: TimeLimit): Promise<void> {
    this.#deadlineAlarm.cancel()
    this.#beatAlarm.cancel()
    await limit.waitFor("last-heartbeat", this.#sendLastHeartbeat(limit))
  }

  /** The last heartbeat, which removes the worker's record. If it is lost, the record stays until it is pruned. */
  async #sendLastHeartbeat(limit: TimeLimit): Promise<void> {
    const { store, logger, events, statistics } = this.#context
    await this.#loop.stop()
    if (limit.isOver) return
    try {
      // Statistics that an earlier heartbeat failed to hand over go first.
      if (statistics.isUnderWay) await this.#send([], [])
      await store.heartbeat({
        ...this.#about(false),
        isLeaving: true,
        held: [],
        statistics: statistics.next(),
      })
    } catch (error) {
      const facts = { component: "heartbeat", error: describeThrown(error) }
      logger.warn(
        facts,
        "The last heartbeat failed; the worker is shown as silent until its record is pruned",
      )
      events.error(error, "heartbeat")
    }
  }

  /** `askedAt` is the time before the claim was sent, so the lease ends here before it ends in the store. */
  hold(execution: Execution, askedAt: number): void {
    this.#extend(execution, askedAt)
    // The loop may be in the long sleep of an idle worker, so an alarm wakes it. Most runs end before the alarm.
    this.#beatAlarm.setFor(askedAt + execution.leaseMs / 3)
  }

  /** False: the lease has ended, so another worker may have the run by now. */
  mayBegin(execution: Execution): boolean {
    const deadline = this.#deadlines.get(execution)
    return deadline !== undefined && this.#context.clock.monotonic() < deadline
  }

  /**
   * Tells the store at once that this attempt begins. Resolves when the store has answered, and also when it hasn't until the
   * end of the lease or the execution was aborted.
   */
  confirm(execution: Execution): Promise<void> {
    return new Promise((resolve) => {
      this.#unconfirmed.set(execution, resolve)
      this.#loop.wake()
    })
  }

  /** Ends the wait of `confirm`. */
  endWait(execution: Execution): void {
    this.#unconfirmed.get(execution)?.()
    this.#unconfirmed.delete(execution)
  }

  /** There is progress to store. */
  onProgress(): void {
    this.#beatAlarm.setFor(this.#context.clock.monotonic() + PROGRESS_AFTER_MS)
  }

  release(execution: Execution): void {
    this.#deadlines.delete(execution)
    this.endWait(execution)
  }

  async #beat(): Promise<number> {
    const { clock } = this.#context
    const held = [...this.#deadlines.keys()]
    const heldRuns = held.map(heldRunOf)
    const sentAt = clock.monotonic()
    const answer = await this.#send(held, heldRuns)
    held.forEach((execution, index) => {
      const { progress } = heldRuns[index]!
      if (progress !== null) execution.onProgressStored(progress)
    })
    const gone = new Map(answer.gone.map((entry) => [`${entry.runId} ${entry.attempt}`, entry.why]))
    for (const execution of held) {
      // The execution may have ended while the heartbeat was under way.
      if (!this.#deadlines.has(execution)) continue
      const why = gone.get(`${execution.run.id} ${execution.run.attempt}`)
      if (why === undefined) {
        // The lease counts from `sentAt`, so it ends here before it ends in the store.
        this.#extend(execution, sentAt)
        this.endWait(execution)
      } else this.#lose(execution, why)
    }
    // The store expects the next heartbeat by the runs that this one named, even if all of them have ended since.
    const intervalMs = beatIntervalMs([...held, ...this.#deadlines.keys()])
    return Math.max(0, intervalMs - (clock.monotonic() - sentAt))
  }

  async #send(held: readonly Execution[], heldRuns: readonly HeldRun[]): Promise<HeartbeatAnswer> {
    const { store, statistics } = this.#context
    const batch = statistics.next()
    try {
      const about = this.#about(heldRuns.length > 0)
      const answer = await store.heartbeat({ ...about, isLeaving: false, held: heldRuns, statistics: batch })
      if (answer.areStatisticsIn) statistics.onHandedOver()
      return answer
    } catch (error) {
      for (const execution of held) if (!this.mayBegin(execution)) this.endWait(execution)
      throw error
    }
  }

  #about(isHolding: boolean): Pick<Heartbeat, "worker" | "nextInMs"> {
    const { describe, leaseMs, pollMs } = this.#context
    return { worker: describe(), nextInMs: nextBeatInMs({ leaseMs, pollMs }, isHolding) }
  }

  #lose(execution: Execution, why: "cancelled" | "lost"): void {
    this.#deadlines.delete(execution)
    execution.abort(why === "cancelled" ? "cancelled" : "lease-lost")
    this.endWait(execution)
  }

  #extend(execution: Execution, since: number): void {
    const deadline = since + execution.leaseMs * USABLE_SHARE
    this.#deadlines.set(execution, deadline)
    this.#deadlineAlarm.setFor(deadline)
  }

  #giveUpOverdue(): void {
    const now = this.#context.clock.monotonic()
    for (const [execution, deadline] of this.#deadlines) {
      if (deadline > now) this.#deadlineAlarm.setFor(deadline)
      else if (execution.hasBegun) this.#lose(execution, "lost")
    }
  }
}

export interface LeaseKeeperContext {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly events: Events
  readonly pollMs: number
  /** The longest lease of the worker's tasks. */
  readonly leaseMs: number
  readonly statistics: StatisticsBuffer
  describe(): WorkerDescription
}

/** A third of the shortest lease. Infinity without a lease: then the loop's longest sleep applies. */
function beatIntervalMs(held: readonly Execution[]): number {
  return Math.min(...held.map(({ leaseMs }) => leaseMs)) / 3
}

function heldRunOf(execution: Execution): HeldRun {
  return {
    runId: execution.run.id,
    attempt: execution.run.attempt,
    leaseMs: execution.leaseMs,
    progress: execution.unsentProgress,
  }
}
