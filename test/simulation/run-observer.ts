import {
  firstClaimableAt,
  isFinished,
  isGivenUp,
  LOST_MAX,
  type NewRun,
  type Run,
  type RunChange,
  type RunState,
} from "../../src/core/run/run.ts"
import type { Instant } from "../../src/core/time/instant.ts"
import { type Findings, iso } from "./findings.ts"
import type { Troubles } from "./troubles.ts"

/** Observes runs: which worker was given which attempt, whether it was performed, and how it ended. */
export class RunObserver {
  readonly #runs = new Map<string, KnownRun>()
  readonly #unfinished = new Map<string, KnownRun>()
  readonly #everCreated = new Set<string>()
  readonly #started = new Set<string>()
  /** Attempts that were confirmed but didn't begin, and that a fault kept from being released. They count as lost too. */
  readonly #cutOff = new Set<string>()
  /** Attempts that an operator took from their worker. */
  readonly #takenAway = new Set<string>()
  readonly #findings: Findings
  readonly #options: ObserverOptions

  constructor(findings: Findings, options: ObserverOptions) {
    this.#findings = findings
    this.#options = options
  }

  wasCreated(id: string): boolean {
    return this.#everCreated.has(id)
  }

  onCreated(run: NewRun, now: Instant): void {
    if (this.#everCreated.has(run.id)) this.#findings.violate("I1", `${run.id} was created twice`)
    this.#everCreated.add(run.id)
    const dueAt = firstClaimableAt(run, now)
    const { task, concurrencyKey, concurrencyLimit, liveKey } = run
    const sharing =
      liveKey === null ? undefined : [...this.#unfinished.values()].find((other) => other.liveKey === liveKey)
    if (sharing !== undefined && run.state === "pending")
      this.#findings.violate("I1", `${run.id} shares a live key with ${sharing.id}`)
    const known = {
      id: run.id,
      task,
      concurrencyKey,
      concurrencyLimit,
      liveKey,
      dueAt,
      waitsSince: Math.max(now, dueAt),
      scheduledFor: run.scheduledFor,
    }
    const untried = { attempt: 0, failures: 0, lost: 0, leaseEndsAt: 0, workerId: "", begunAttempts: 0 }
    this.#set({ ...known, ...untried, isConfirmed: false, claimedAt: 0, state: run.state })
  }

  onClaim(run: Run, now: Instant): void {
    const known = this.#runs.get(run.id)
    this.#findings.mix(`claim ${run.id} ${run.attempt} ${run.workerId}`)
    if (known === undefined) {
      this.#findings.violate("I3", `${run.id} was claimed but never created`)
      return
    }
    if (run.attempt !== known.attempt + 1)
      this.#findings.violate("I4", `${run.id} went from attempt ${known.attempt} to ${run.attempt}`)
    if (isFinished(known.state))
      this.#findings.violate("I7", `${run.id} was claimed although it is ${known.state}`)
    // A run that is taken over was due before. The store's clock may have been set back since then.
    if (known.state === "pending" && now < known.dueAt)
      this.#findings.violate("I8", `${run.id} was claimed ${known.dueAt - now} ms early`)
    const dueAt = known.state === "running" ? known.leaseEndsAt : known.dueAt
    if (run.dueAt !== dueAt)
      this.#findings.violate("I8", `${run.id} was due at ${dueAt}, not at ${run.dueAt}`)
    if (known.state === "running") {
      if (now < known.leaseEndsAt)
        this.#findings.violate(
          "I4",
          `${run.id} was taken from ${known.workerId} ${known.leaseEndsAt - now} ms before its lease ended`,
        )
      this.#findings.note("taken over")
      if (this.#options.isCalm)
        this.#findings.violate("I6", `${run.id} was taken from ${known.workerId}, which had no fault`)
      if (run.lost !== known.lost + (known.isConfirmed ? 1 : 0))
        this.#findings.violate(
          "I12",
          `${run.id} had lost ${known.lost} workers before, and now counts ${run.lost}`,
        )
      if (!known.isConfirmed) this.#findings.note("taken over before it began")
      else this.#checkBegun(known)
    }
    if (run.failures !== known.failures)
      this.#findings.violate("I12", `${run.id} has ${run.failures} failures; ${known.failures} were stored`)
    this.#set({
      ...known,
      state: "running",
      attempt: run.attempt,
      lost: run.lost,
      isConfirmed: false,
      claimedAt: this.#options.troubles.now,
      dueAt,
      leaseEndsAt: run.claimableAt!,
      workerId: run.workerId!,
    })
    this.#checkConcurrency(run)
  }

  /** I12: an attempt counts as lost only if it began, or if a fault hit a process since its claim. */
  #checkBegun({ id, attempt, claimedAt, workerId }: KnownRun): void {
    const { troubles } = this.#options
    if (this.#started.has(`${id} ${attempt}`)) return
    if (!troubles.wereNone(claimedAt, troubles.now)) this.#cutOff.add(`${id} ${attempt}`)
    else this.#findings.violate("I12", `${id} lost attempt ${attempt}, which ${workerId} never began`)
  }

  #checkConcurrency(run: Run): void {
    if (run.concurrencyKey === null || run.concurrencyLimit === null) return
    const running = [...this.#unfinished.values()].filter(
      (other) => other.concurrencyKey === run.concurrencyKey && other.state === "running",
    )
    if (running.length > run.concurrencyLimit)
      this.#findings.violate("Serial", `${running.length} runs of ${run.concurrencyKey} are running`)
  }

  onHeartbeat(runId: string, attempt: number, leaseEndsAt: Instant): void {
    const known = this.#runs.get(runId)
    if (known === undefined || known.attempt !== attempt || known.state !== "running") {
      this.#findings.violate(
        "I5",
        `a heartbeat extended the lease of ${runId} for the outdated attempt ${attempt}`,
      )
      return
    }
    this.#set({ ...known, leaseEndsAt, isConfirmed: true })
  }

  onTransition(change: RunChange, outcome: string, now: Instant): void {
    const known = this.#runs.get(change.runId)
    this.#findings.mix(`transition ${change.runId} ${change.state} ${outcome}`)
    if (outcome !== "done") {
      if (change.outcome === "succeeded") this.#findings.note("late result refused")
      return
    }
    if (known === undefined || known.attempt !== change.ifAttempt || known.state !== change.ifState) {
      this.#findings.violate("I5", `${change.runId} was changed by the outdated attempt ${change.ifAttempt}`)
      return
    }
    if (isFinished(known.state) && !isRetry(known.state, change))
      this.#findings.violate("I7", `${known.id} was ${known.state} and became ${change.state}`)
    if (change.outcome === "failed" && change.failures !== known.failures + 1)
      this.#findings.violate("I12", `${known.id} did not count a failure`)
    if (change.failures > this.#options.attemptsAllowed(known.task))
      this.#findings.violate("I12", `${known.id} failed ${change.failures} times`)
    if (change.outcome === "lost") this.#takenAway.add(`${known.id} ${known.attempt}`)
    if (isGivenUp(change)) this.#onGivenUp(known)
    else if (change.outcome === "released") {
      this.#findings.note("released")
      if (known.isConfirmed && !this.#started.has(`${known.id} ${known.attempt}`))
        this.#findings.note("released before it began")
    }
    if (change.state === "cancelled")
      this.#findings.note(known.state === "running" ? "cancelled while running" : "cancelled while pending")
    const dueAt = change.claimableInMs === null ? known.dueAt : now + change.claimableInMs
    const { state, failures, lost } = change
    const begunAttempts = isRetry(known.state, change) ? 0 : known.begunAttempts
    this.#set({ ...known, state, failures, lost, begunAttempts, dueAt, waitsSince: Math.max(now, dueAt) })
  }

  /** I12: only for the first attempt it isn't known whether it began. At most once, each attempt that may have begun is enough. */
  #onGivenUp({ id, attempt, task }: KnownRun): void {
    this.#findings.note("given up as lost")
    const numbers = Array.from({ length: attempt }, (_, index) => index + 1)
    const keys = numbers.map((number) => `${id} ${number}`)
    const isAtMostOnce = this.#options.isAtMostOnce(task)
    const isCounted = (key: string) =>
      this.#started.has(key) || this.#cutOff.has(key) || (isAtMostOnce && this.#takenAway.has(key))
    const counted = keys.filter(isCounted).length
    if (counted < (isAtMostOnce ? 1 : LOST_MAX - 1))
      this.#findings.violate(
        "I12",
        `${id} was given up after only ${counted} attempts that began or were cut off`,
      )
  }

  #set(run: KnownRun): void {
    this.#runs.set(run.id, run)
    if (isFinished(run.state)) this.#unfinished.delete(run.id)
    else this.#unfinished.set(run.id, run)
  }

  /** I3: each performed attempt was claimed, and is performed at most once. */
  onStart(runId: string, attempt: number): void {
    const key = `${runId} ${attempt}`
    if (this.#started.has(key)) this.#findings.violate("I3", `${key} was performed twice`)
    this.#started.add(key)
    const known = this.#runs.get(runId)
    // An attempt that was taken over since was claimed with fewer lost workers.
    if (known?.attempt === attempt && known.lost >= LOST_MAX)
      this.#findings.violate("I12", `${key} was performed after it had cost ${LOST_MAX} workers`)
    if ((known?.attempt ?? 0) < attempt)
      this.#findings.violate("I3", `${key} was performed but never claimed`)
    if (known === undefined || !this.#options.isAtMostOnce(known.task)) return
    if (known.begunAttempts > 0)
      this.#findings.violate("AtMostOnce", `${key} was performed, though an earlier attempt had begun`)
    this.#set({ ...known, begunAttempts: known.begunAttempts + 1 })
  }

  /** I10: some time after the last fault, nothing is overdue and no run is without a lease. */
  onEnd(now: Instant, toleranceMs: number): void {
    for (const run of this.#unfinished.values()) {
      if (run.state === "running" && run.leaseEndsAt < now - toleranceMs)
        this.#findings.violate("I10", `${run.id} runs without a lease`)
      if (run.state === "pending" && run.waitsSince < now - 6 * toleranceMs && run.concurrencyKey === null)
        this.#findings.violate("I10", `${run.id} has been waiting since ${iso(run.waitsSince)}`)
    }
  }
}

export interface ObserverOptions {
  attemptsAllowed(task: string): number
  isAtMostOnce(task: string): boolean
  /** The simulation has no faults, so no lease may be lost. */
  readonly isCalm: boolean
  readonly troubles: Troubles
}

interface KnownRun {
  readonly id: string
  readonly task: string
  readonly state: RunState
  readonly attempt: number
  readonly failures: number
  readonly lost: number
  readonly liveKey: string | null
  readonly concurrencyKey: string | null
  readonly concurrencyLimit: number | null
  readonly dueAt: Instant
  /** The later of the due time and the time at which the run was stored or released. */
  readonly waitsSince: Instant
  readonly scheduledFor: Instant | null
  readonly leaseEndsAt: Instant
  readonly workerId: string
  /** Since a person's last retry. */
  readonly begunAttempts: number
  /** Whether a heartbeat has confirmed the newest attempt. */
  readonly isConfirmed: boolean
  /** By the time of the simulation, not of the store. */
  readonly claimedAt: Instant
}

function isRetry(state: RunState, change: RunChange): boolean {
  return change.state === "pending" && (state === "failed" || state === "cancelled")
}
