import { BelfryError } from "../core/errors.ts"
import { type Run, type RunChange, release } from "../core/run/run.ts"
import { describeThrown } from "../core/values/thrown.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Store } from "../store/store.ts"
import type { AnyTask } from "../task/task.ts"
import { BeginPauses } from "./begin-pauses.ts"
import { type Claim, Claims } from "./claims.ts"
import type { Events } from "./events.ts"
import { Execution } from "./execution.ts"
import type { LeaseKeeper } from "./lease-keeper.ts"
import { delayUntil, Loop, loopReports } from "./loop.ts"
import { LostAnswers } from "./lost-answers.ts"
import { reportCancelled, reportEnd, reportStart, reportSuperseded } from "./run-reports.ts"
import { type Settled, Settler } from "./settler.ts"
import { TimeLimit } from "./time-limit.ts"

/** The most claims in one turn of the claiming loop. */
const CLAIMS_PER_TURN_MAX = 100
const TOO_LATE = "Its worker could not begin it before its lease ended"

/** Claims due runs of its tasks while it has free slots, performs them, and settles them. */
export class Worker {
  readonly #context: WorkerContext
  readonly #tasks: ReadonlyMap<string, AnyTask>
  readonly #running = new Map<string, Execution>()
  readonly #settler: Settler
  readonly #claiming: Loop
  readonly #leaseKeeper: LeaseKeeper
  readonly #lostAnswers: LostAnswers
  readonly #claims: Claims
  readonly #pauses: BeginPauses
  /** Due runs may be left, or no slot is free. A run that ends then wakes the claiming loop. */
  #isMoreToClaim = true
  #isDraining = false
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
      ...loopReports(context, {
        component: "worker",
        fault: "Runs can't be claimed; trying again",
        recovery: "Runs can be claimed again",
      }),
    })
    this.#leaseKeeper = context.leaseKeeper
    this.#lostAnswers = new LostAnswers(context)
    const leases = context.tasks.map((task) => ({ name: task.name, leaseMs: this.#leaseOf(task) }))
    this.#claims = new Claims({ ...context, leases }, this.#lostAnswers)
    this.#pauses = new BeginPauses(context.clock)
  }

  start(): void {
    this.#isDraining = false
    this.#claiming.start()
  }

  /** Runs may have become claimable. */
  wake(): void {
    this.#claiming.wake()
  }

  /** A held run may have been cancelled: a heartbeat asks the store now. */
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
   * Claims nothing new, gives back runs that haven't begun, and lets the others finish for up to `timeoutMs`. Then it aborts
   * them and gives them back at once, so that another worker needn't wait for a lease to end. Changes that the store hasn't
   * answered by `limit` are given up.
   */
  async stop(timeoutMs: number, limit: TimeLimit): Promise<void> {
    this.#isDraining = true
    for (const execution of this.#running.values()) if (!execution.hasBegun) this.#giveBack(execution)
    const isEmpty = this.#claiming.stop().then(() => this.#emptied())
    await new TimeLimit(this.#context.clock, timeoutMs).waitFor("runs", isEmpty)
    for (const execution of this.#running.values()) this.#giveBack(execution)
    if (!(await limit.waitFor("runs", isEmpty))) this.#settler.giveUp()
  }

  async #claim(): Promise<number> {
    const free = this.#free
    this.#isMoreToClaim = free <= 0
    // The next run that ends wakes this loop.
    if (this.#isMoreToClaim) return Number.POSITIVE_INFINITY
    const { waitMs } = this.#claims
    if (waitMs > 0) return waitMs
    await this.#lostAnswers.giveBack(({ id, attempt }) => this.#running.get(id)?.run.attempt === attempt)
    if (this.#isDraining) return Number.POSITIVE_INFINITY

    let asked = this.#claims.claim(free)
    for (let claims = 1; ; claims++) {
      const claim = await asked
      this.#isMoreToClaim = claim.isMoreDue
      const room = this.#free - claim.runs.length
      const mayAskAgain = !this.#isDraining && this.#claims.waitMs <= 0 && claims < CLAIMS_PER_TURN_MAX
      const isAskedAgain = claim.runs.length > 0 && claim.isMoreDue && room > 0 && mayAskAgain
      // Asked before these runs begin, so that the store finds the next runs in the meantime.
      if (isAskedAgain) asked = this.#claims.claim(room)
      for (const run of claim.runs) this.#begin(run, claim)
      this.#noteIdle()
      if (!isAskedAgain) return this.#delayAfter(claim)
    }
  }

  #delayAfter({ isMoreDue, nextClaimableAt, now, readAt }: Claim): number {
    if (isMoreDue) return 0
    const delayMs = delayUntil(nextClaimableAt, now, this.#context.clock.monotonic() - readAt)
    return Math.min(delayMs, this.#lostAnswers.searchAgainInMs)
  }

  /** A run frees its slot when its task has ended, before the end is stored. At most `slots` ends may wait to be stored. */
  get #free(): number {
    const { slots } = this.#context
    return Math.min(slots - (this.#running.size - this.#settler.size), 2 * slots - this.#running.size)
  }

  #leaseOf(task: AnyTask): number {
    return task.leaseMs ?? this.#context.leaseMs
  }

  #begin(run: Run, { askedAt, readAt }: Claim): void {
    const { store, clock } = this.#context
    const task = this.#tasks.get(run.task)!
    const leaseMs = this.#leaseOf(task)
    // If this worker still performs an older attempt of the run, that attempt has lost its lease and is aborted.
    this.#drop(run.id)
    const execution = new Execution({
      run,
      task,
      store,
      clock,
      leaseMs,
      onProgress: () => this.#leaseKeeper.onProgress(),
      withRetries: (question) => this.#settler.withRetries(question),
    })
    this.#running.set(run.id, execution)
    this.#leaseKeeper.hold(execution, askedAt)
    if (this.#isDraining) execution.abort("stopping")
    void this.#finish(execution, readAt)
  }

  /** For attempts that have begun and for attempts that wait for the store's confirmation. */
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

  async #finish(execution: Execution, claimedAt: number): Promise<void> {
    const { run } = execution
    try {
      const change = await this.#perform(execution, claimedAt)
      if (change !== null) await this.#end(execution, change)
      else if (execution.wasCancelled) reportCancelled(this.#context, run)
      else this.#reportLoss(execution)
    } catch (error) {
      this.#context.logger.error(
        { component: "worker", runId: run.id, error: describeThrown(error) },
        "The run's end can't be stored",
      )
      this.#context.events.error(error, "worker")
      // In the store this worker still holds the run. Unless its task was called, it is given back when the store answers again.
      if (execution.hasBegun) this.#lostAnswers.markBegun(run)
      else this.#lostAnswers.suspect(execution.leaseMs)
    }
    if (this.#running.get(run.id) === execution) this.#running.delete(run.id)
    this.#leaseKeeper.release(execution)
    if (this.#running.size === 0) this.#whenEmpty?.()
    this.#noteIdle()
    this.#makeRoom(run.concurrencyLimit !== null)
  }

  /** The lease was lost. Until another worker takes the run, this worker still holds it in the store. */
  #reportLoss(execution: Execution): void {
    if (execution.hasBegun) this.#lostAnswers.markBegun(execution.run)
    reportSuperseded(this.#context, execution.run)
  }

  /** Returns the change that ends the attempt. Null: this attempt may no longer change the run. */
  async #perform(execution: Execution, claimedAt: number): Promise<RunChange | null> {
    const { run } = execution
    const { clock } = this.#context
    // A run that must not be performed is only ended; its task isn't called.
    if (execution.reasonNotToPerform !== null) return execution.perform()
    if (execution.mustBeConfirmed && !execution.isAborted) await this.#leaseKeeper.confirm(execution)
    for (let wait = this.#pauses.wait(); wait !== null; wait = this.#pauses.wait()) await wait
    if (!execution.isAborted && !this.#leaseKeeper.mayBegin(execution)) return release(run, TOO_LATE)
    if (!execution.isAborted) reportStart(this.#context, run, clock.monotonic() - claimedAt)
    return execution.perform()
  }

  /**
   * Wakes the claiming loop if runs may be left to claim. If none are, a claim would find nothing new, because the store sends hints
   * for newly due runs. After a run with a concurrency key the loop always wakes: another run may have waited for the key.
   */
  #makeRoom(isForKey = false): void {
    if ((isForKey || this.#isMoreToClaim) && !this.#isDraining) this.#claiming.wake()
  }

  async #end(execution: Execution, change: RunChange, isReplacement = false): Promise<void> {
    const settled = await this.#settle(change)
    if (settled === "made") reportEnd(this.#context, execution, change)
    else if (settled === "cancelled") reportCancelled(this.#context, execution.run)
    else if (settled === "stale") reportSuperseded(this.#context, execution.run)
    else if (isReplacement) throw new BelfryError("BELFRY_STORE_REFUSED", settled.why)
    else await this.#end(execution, execution.failUnstorable(settled.why), true)
  }

  #settle(change: RunChange): Promise<Settled> {
    const settled = this.#settler.settle(change)
    this.#makeRoom()
    return settled
  }

  /** A worker is idle if it performs nothing and has claimed every due run. */
  #noteIdle(): void {
    const isIdle = !this.#isMoreToClaim && !this.#isDraining && this.#running.size === 0
    if (isIdle && !this.#isIdle) this.#context.events.announce("idle")
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
  /** Shortest time between two claims. */
  readonly nextDelayMs: number
}
