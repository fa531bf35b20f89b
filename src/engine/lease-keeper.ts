import { nextBeatInMs } from "../core/liveness.ts"
import { describeThrown } from "../core/thrown.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Heartbeat, HeartbeatAnswer, HeldRun, Store, WorkerDescription } from "../store/store.ts"
import { Alarm } from "./alarm.ts"
import type { Events } from "./events.ts"
import type { Execution } from "./execution.ts"
import { Loop } from "./loop.ts"
import type { StatisticsBuffer } from "./statistics-buffer.ts"
import type { TimeLimit } from "./time-limit.ts"

/** The part of a lease that is relied on; the rest is for clocks that disagree and answers under way. */
const USABLE = 0.9

export function isLeaseSpent(leaseMs: number, elapsedMs: number): boolean {
  return elapsedMs >= leaseMs * USABLE
}

/** Progress is gathered for this long before it is stored. */
const PROGRESS_AFTER_MS = 1_000

/**
 * One heartbeat for all that a worker holds. It beats three times a lease while anything is held, and rarely otherwise.
 * It also watches its own failures: a lease that wasn't extended in time is treated as lost before it has ended, because
 * another worker may take the run in that very moment. An attempt that waits for its confirmation is given back instead: the
 * store may count it as begun, and its worker alone knows that it wasn't.
 */
export class LeaseKeeper {
  readonly #context: LeaseKeeperContext
  readonly #loop: Loop
  /** What is held. By our own monotonic clock: when each lease, if not extended, must be given up. */
  readonly #deadlines = new Map<Execution, number>()
  /** What waits for the store's answer before it begins. Nothing is being done under its lease, so it may wait beyond it. */
  readonly #unbegun = new Map<Execution, (isToBegin: boolean) => void>()
  readonly #watch: Alarm
  readonly #nextBeat: Alarm

  constructor(context: LeaseKeeperContext) {
    this.#context = context
    this.#watch = new Alarm(context.clock, () => this.#giveUpOverdue())
    this.#nextBeat = new Alarm(context.clock, () => {
      if (this.#deadlines.size > 0 || context.counting.isOwed) this.#loop.wake()
    })
    this.#loop = new Loop({
      clock: context.clock,
      longestSleepMs: context.pollMs,
      turn: () => this.#beat(),
      onFault: (error, count) => {
        if (count === 1)
          context.logger.error(
            { component: "heartbeat", error: describeThrown(error) },
            "The heartbeat fails; trying again",
          )
        context.events.error(error, "heartbeat")
      },
      onRecovery: () => context.logger.warn({ component: "heartbeat" }, "Heartbeats are stored again"),
    })
  }

  start(): void {
    this.#loop.start()
  }

  wake(): void {
    this.#loop.wake()
  }

  async stop(limit: TimeLimit): Promise<void> {
    this.#watch.callOff()
    this.#nextBeat.callOff()
    await limit.allows("goodbye", this.#sayGoodbye(limit))
  }

  /** The last beat. If it gets lost the worker's record simply grows old. */
  async #sayGoodbye(limit: TimeLimit): Promise<void> {
    const { store, logger, events, counting } = this.#context
    await this.#loop.stop()
    if (limit.isOver) return
    try {
      // What the last beat couldn't hand over goes first.
      if (counting.isUnderWay) await this.#send([], [])
      await store.heartbeat({ ...this.#about(false), isLeaving: true, held: [], statistics: counting.next() })
    } catch (error) {
      const facts = { component: "heartbeat", error: describeThrown(error) }
      logger.warn(facts, "The worker could not say goodbye; it is shown as silent until its record is pruned")
      events.error(error, "heartbeat")
    }
  }

  /** Counts from before the claim was sent, so it errs on the early side. */
  hold(execution: Execution, askedAt: number): void {
    this.#extend(execution, askedAt)
    // The loop may be asleep for as long as an idle worker may be. Most runs end before their first beat is due.
    this.#nextBeat.setFor(askedAt + execution.leaseMs / 3)
  }

  /**
   * Tells the store at once that this attempt begins. Resolves when the store has answered, or the execution was aborted. False:
   * the attempt must not begin, although the store may have heard that it does.
   */
  confirm(execution: Execution): Promise<boolean> {
    return new Promise((resolve) => {
      this.#unbegun.set(execution, resolve)
      this.#loop.wake()
    })
  }

  /** Ends the wait of `confirm`. */
  endWait(execution: Execution, isToBegin = true): void {
    this.#unbegun.get(execution)?.(isToBegin)
    this.#unbegun.delete(execution)
  }

  /** There is progress to store. */
  onProgress(): void {
    this.#nextBeat.setFor(this.#context.clock.monotonic() + PROGRESS_AFTER_MS)
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
      // It may have ended while the beat was under way.
      if (!this.#deadlines.has(execution)) continue
      const why = gone.get(`${execution.run.id} ${execution.run.attempt}`)
      if (why === undefined) this.#keep(execution, sentAt)
      else this.#lose(execution, why)
    }
    // The store has counted what this beat named. Others judge by it until the next beat, also if all of it is gone.
    const rhythmMs = rhythmOf([...held, ...this.#deadlines.keys()])
    return Math.max(0, rhythmMs - (clock.monotonic() - sentAt))
  }

  async #send(held: readonly Execution[], heldRuns: readonly HeldRun[]): Promise<HeartbeatAnswer> {
    const { store, counting } = this.#context
    const statistics = counting.next()
    try {
      const about = this.#about(heldRuns.length > 0)
      const answer = await store.heartbeat({ ...about, isLeaving: false, held: heldRuns, statistics })
      if (answer.areStatisticsIn) counting.onHandedOver()
      return answer
    } catch (error) {
      const now = this.#context.clock.monotonic()
      for (const execution of held)
        if (this.#unbegun.has(execution) && this.#deadlines.get(execution)! <= now) this.#giveUp(execution)
      throw error
    }
  }

  #about(isHolding: boolean): Pick<Heartbeat, "worker" | "nextInMs"> {
    const { describe, leaseMs, pollMs } = this.#context
    return { worker: describe(), nextInMs: nextBeatInMs({ leaseMs, pollMs }, isHolding) }
  }

  /** The store has extended the lease; counted from when it was asked to, to err on the early side. */
  #keep(execution: Execution, sentAt: number): void {
    const elapsedMs = this.#context.clock.monotonic() - sentAt
    if (this.#unbegun.has(execution) && isLeaseSpent(execution.leaseMs, elapsedMs)) {
      this.#giveUp(execution)
      return
    }
    this.#extend(execution, sentAt)
    this.endWait(execution)
  }

  /** The attempt was never begun, and the store may take it for begun. */
  #giveUp(execution: Execution): void {
    this.#deadlines.delete(execution)
    this.endWait(execution, false)
  }

  #lose(execution: Execution, why: "cancelled" | "lost"): void {
    this.#deadlines.delete(execution)
    execution.abort(why === "cancelled" ? "cancelled" : "lease-lost")
    this.endWait(execution)
  }

  #extend(execution: Execution, since: number): void {
    const deadline = since + execution.leaseMs * USABLE
    this.#deadlines.set(execution, deadline)
    this.#watch.setFor(deadline)
  }

  #giveUpOverdue(): void {
    const now = this.#context.clock.monotonic()
    for (const [execution, deadline] of this.#deadlines) {
      // Judged when the beat that confirms it has ended.
      if (this.#unbegun.has(execution)) continue
      if (deadline <= now) this.#lose(execution, "lost")
      else this.#watch.setFor(deadline)
    }
  }
}

export interface LeaseKeeperContext {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly events: Events
  readonly pollMs: number
  /** The longest lease among its tasks. */
  readonly leaseMs: number
  readonly counting: StatisticsBuffer
  describe(): WorkerDescription
}

/** Three times the shortest lease; without any lease, as rarely as the loop allows. */
function rhythmOf(held: readonly Execution[]): number {
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
