import { mustBeConfirmed, type Run, type RunChange, release } from "../core/run.ts"
import { describeThrown } from "../core/thrown.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Claimed, Store } from "../store/store.ts"
import type { AnyTask } from "../task/task.ts"
import type { Events } from "./events.ts"
import { Execution } from "./execution.ts"
import { isLeaseSpent, type LeaseKeeper } from "./lease-keeper.ts"
import { delayUntil, Loop } from "./loop.ts"
import { LostAnswers } from "./lost-answers.ts"
import { reportCancelled, reportEnd, reportRefused, reportStart } from "./run-reports.ts"
import { type Settled, Settler } from "./settler.ts"
import { TimeLimit } from "./time-limit.ts"

/** Claims due runs of its tasks while it has free slots, performs them, and settles them. */
export class Worker {
  readonly #context: WorkerContext
  readonly #tasks: ReadonlyMap<string, AnyTask>
  readonly #running = new Map<string, Execution>()
  readonly #settler: Settler
  readonly #claiming: Loop
  readonly #leaseKeeper: LeaseKeeper
  readonly #lostAnswers: LostAnswers
  /** By the monotonic clock: whoever wakes us, not before. */
  #nextClaimAt = 0
  /** There is more due than was given, or no room to ask for it: then a run that ends makes some. */
  #isShortOfRoom = true
  #isDraining = false
  /** The time to finish is over: what is claimed only now is given back unbegun. */
  #isLeaving = false
  #isIdle = false
  #whenEmpty: (() => void) | null = null

  constructor(context: WorkerContext) {
    this.#context = context
    this.#tasks = new Map(context.tasks.map((task) => [task.name, task]))
    this.#settler = new Settler(context.store, context.clock)
    this.#claiming = new Loop({
      clock: context.clock,
      longestSleepMs: context.pollMs,
      turn: () => this.#claim(),
      onFault: (error, count) => {
        if (count === 1)
          context.logger.error(
            { component: "worker", error: describeThrown(error) },
            "Runs can't be claimed; trying again",
          )
        context.events.error(error, "worker")
      },
      onRecovery: () => context.logger.warn({ component: "worker" }, "Runs can be claimed again"),
    })
    this.#leaseKeeper = context.leaseKeeper
    this.#lostAnswers = new LostAnswers(context)
  }

  start(): void {
    this.#isDraining = false
    this.#claiming.start()
  }

  /** There may be something to claim. */
  wake(): void {
    this.#claiming.wake()
  }

  /** Something held may have been cancelled. */
  check(): void {
    if (this.#running.size > 0) this.#leaseKeeper.wake()
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  get isIdle(): boolean {
    return this.#isIdle
  }

  get isProcessing(): boolean {
    return this.#running.size > 0
  }

  /**
   * Takes nothing new, lets what is running finish within the time given, then aborts it and gives it back at once, so
   * that another worker needn't wait for a lease to end. What the store doesn't answer by the limit is given up.
   */
  async stop(timeoutMs: number, limit: TimeLimit): Promise<void> {
    this.#isDraining = true
    const isEmpty = this.#claiming.stop().then(() => this.#emptied())
    await new TimeLimit(this.#context.clock, timeoutMs).allows("runs", isEmpty)
    this.#isLeaving = true
    for (const execution of this.#running.values()) this.#giveBack(execution)
    if (!(await limit.allows("runs", isEmpty))) this.#settler.giveUp()
  }

  async #claim(): Promise<number> {
    const { clock, nextDelayMs } = this.#context
    const free = this.#free
    this.#isShortOfRoom = free <= 0
    // The next run that ends wakes this loop.
    if (this.#isShortOfRoom) return Number.POSITIVE_INFINITY
    const tooEarlyMs = this.#nextClaimAt - clock.monotonic()
    if (tooEarlyMs > 0) return tooEarlyMs
    await this.#lostAnswers.giveBack(({ id, attempt }) => this.#running.get(id)?.run.attempt === attempt)
    const askedAt = clock.monotonic()
    this.#nextClaimAt = askedAt + nextDelayMs
    const claimed = await this.#ask(free)
    const readAt = clock.monotonic()
    const count = claimed.runs.length
    if (count > 0) this.#context.events.claimed({ what: "runs", count, lost: 0, tookMs: readAt - askedAt })
    for (const run of claimed.runs) this.#begin(run, { askedAt, readAt })
    this.#isShortOfRoom = count === free || claimed.nextClaimableAt === claimed.now
    this.#noteIdle()
    if (this.#isShortOfRoom) return 0
    const delayMs = delayUntil(claimed.nextClaimableAt, claimed.now, clock.monotonic() - readAt)
    return Math.min(delayMs, this.#lostAnswers.lookAgainInMs)
  }

  async #ask(limit: number): Promise<Claimed> {
    const { store, id } = this.#context
    const tasks = this.#leases()
    try {
      return await store.claim({ workerId: id, tasks, limit })
    } catch (error) {
      this.#lostAnswers.suspect(Math.max(...tasks.map(({ leaseMs }) => leaseMs)))
      throw error
    }
  }

  /** A task that has ended makes room for the next while its end is being stored; as many may wait for that as perform. */
  get #free(): number {
    const { slots } = this.#context
    return Math.min(slots - (this.#running.size - this.#settler.size), 2 * slots - this.#running.size)
  }

  #leases() {
    return [...this.#tasks.values()].map((task) => ({ name: task.name, leaseMs: this.#leaseOf(task) }))
  }

  #leaseOf(task: AnyTask): number {
    return task.leaseMs ?? this.#context.leaseMs
  }

  #begin(run: Run, { askedAt, readAt }: { askedAt: number; readAt: number }): void {
    const { store, clock } = this.#context
    const task = this.#tasks.get(run.task)!
    const leaseMs = this.#leaseOf(task)
    // We slept over the answer (a stopped process, a slow network): by now the run may be somebody else's.
    if (isLeaseSpent(leaseMs, readAt - askedAt)) {
      this.#lostAnswers.suspect(leaseMs)
      return
    }
    // The same run again means that we lost it, and the store has given it back to us: the older attempt must go.
    this.#drop(run.id)
    const execution = new Execution({
      run,
      task,
      store,
      clock,
      leaseMs,
      onProgress: () => this.#leaseKeeper.onProgress(),
      insist: (question) => this.#settler.insist(question),
    })
    this.#running.set(run.id, execution)
    this.#leaseKeeper.hold(execution, askedAt)
    if (this.#isLeaving) execution.abort("stopping")
    void this.#finish(execution)
  }

  /** Whether it was begun or waits for the store to confirm it. */
  #giveBack(execution: Execution): void {
    execution.abort("stopping")
    this.#leaseKeeper.endWait(execution)
  }

  #drop(runId: string): void {
    const older = this.#running.get(runId)
    if (older === undefined) return
    this.#leaseKeeper.release(older)
    older.abort("lease-lost")
  }

  async #finish(execution: Execution): Promise<void> {
    const { run } = execution
    try {
      const change = await this.#perform(execution)
      if (change !== null) await this.#end(execution, change)
      else if (execution.wasCancelled) reportCancelled(this.#context, run)
      else this.#refuse(execution)
    } catch (error) {
      this.#context.logger.error(
        { component: "worker", runId: run.id, error: describeThrown(error) },
        "The run's end can't be stored",
      )
      this.#context.events.error(error, "worker")
      // It is still ours in the store, and would count as lost: it is given back when the store answers again.
      if (execution.hasBegun) this.#lostAnswers.leave(run)
      else this.#lostAnswers.suspect(execution.leaseMs)
    }
    if (this.#running.get(run.id) === execution) this.#running.delete(run.id)
    this.#leaseKeeper.release(execution)
    if (this.#running.size === 0) this.#whenEmpty?.()
    this.#noteIdle()
    this.#makeRoom(run.concurrencyLimit !== null)
  }

  /** Its lease was lost. If nobody takes the run, the store still has it as ours. */
  #refuse(execution: Execution): void {
    if (execution.hasBegun) this.#lostAnswers.leave(execution.run)
    reportRefused(this.#context, execution.run)
  }

  /** The change that ends the attempt; null if the run is no longer ours to change. */
  async #perform(execution: Execution): Promise<RunChange | null> {
    const { run } = execution
    // A run that has cost too many workers only ends here: nothing begins.
    if (execution.hopeless !== null) return execution.perform()
    if (mustBeConfirmed(run) && !execution.isAborted) {
      const isToBegin = await this.#leaseKeeper.confirm(execution)
      if (!isToBegin) return release(run, "The store confirmed the attempt too late for it to begin")
    }
    if (!execution.isAborted) reportStart(this.#context, run)
    return execution.perform()
  }

  /**
   * Where there was room enough, a claim would find nothing new: what became due meanwhile the store hints at. But a run
   * that waited for this one's key is looked for at once.
   */
  #makeRoom(isForKey = false): void {
    if ((isForKey || this.#isShortOfRoom) && !this.#isDraining) this.#claiming.wake()
  }

  async #end(execution: Execution, change: RunChange): Promise<void> {
    const settled = await this.#settle(change)
    if (settled === "made") reportEnd(this.#context, execution, change)
    else if (settled === "cancelled") reportCancelled(this.#context, execution.run)
    else if (settled === "stale") reportRefused(this.#context, execution.run)
    else await this.#end(execution, execution.failRefused(settled.why))
  }

  #settle(change: RunChange): Promise<Settled> {
    const settled = this.#settler.settle(change)
    this.#makeRoom()
    return settled
  }

  /** Nothing is running, and what was due has been taken. */
  #noteIdle(): void {
    const isIdle = !this.#isShortOfRoom && !this.#isDraining && this.#running.size === 0
    if (isIdle && !this.#isIdle) this.#context.events.say("idle")
    this.#isIdle = isIdle
  }

  /** Resolves when nothing is running. */
  #emptied(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenEmpty = resolve
    })
  }
}

export interface WorkerContext {
  readonly id: string
  readonly leaseKeeper: LeaseKeeper
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly events: Events
  readonly tasks: readonly AnyTask[]
  readonly slots: number
  readonly leaseMs: number
  readonly pollMs: number
  /** At least this long between two claims. */
  readonly nextDelayMs: number
}
