import type { Instant } from "../../src/core/instant.ts"
import {
  firstClaimableAt,
  isFinished,
  isGivenUp,
  LOST_MAX,
  type NewRun,
  type Run,
  type RunChange,
  type RunState,
} from "../../src/core/run.ts"
import { type Findings, iso } from "./findings.ts"
import type { Troubles } from "./troubles.ts"

/** Watches runs: who was given which attempt, who performed it, and how it ended. */
export class RunObserver {
  readonly #runs = new Map<string, Known>()
  readonly #unfinished = new Map<string, Known>()
  readonly #everCreated = new Set<string>()
  readonly #started = new Set<string>()
  /** Attempts that were confirmed and not begun, while something kept their worker from giving them back: these count, too. */
  readonly #cutOff = new Set<string>()
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
    const rival =
      liveKey === null ? undefined : [...this.#unfinished.values()].find((other) => other.liveKey === liveKey)
    if (rival !== undefined && run.state === "pending")
      this.#findings.violate("I1", `${run.id} shares a live key with ${rival.id}`)
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
    const untried = { attempt: 0, failures: 0, lost: 0, leaseEndsAt: 0, workerId: "" }
    this.#keep({ ...known, ...untried, isConfirmed: false, claimedAt: 0, state: run.state })
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
    // One that is taken over had its time: the store's clock may have been set back since.
    if (known.state === "pending" && now < known.dueAt)
      this.#findings.violate("I8", `${run.id} was given out ${known.dueAt - now} ms early`)
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
        this.#findings.violate("I6", `${run.id} was taken from ${known.workerId}, which was well`)
      if (run.lost !== known.lost + (known.isConfirmed ? 1 : 0))
        this.#findings.violate("I12", `${run.id} lost ${known.lost} workers, and ${run.lost} are counted`)
      if (!known.isConfirmed) this.#findings.note("taken over before it was begun")
      else this.#checkBegun(known)
    }
    if (run.failures !== known.failures)
      this.#findings.violate("I12", `${run.id} has ${run.failures} failures; ${known.failures} were stored`)
    this.#keep({
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

  /** I12: an attempt counts as lost only if it was begun, or something happened to its worker. */
  #checkBegun({ id, attempt, claimedAt, workerId }: Known): void {
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

  onBeat(runId: string, attempt: number, leaseEndsAt: Instant): void {
    const known = this.#runs.get(runId)
    if (known === undefined || known.attempt !== attempt || known.state !== "running") {
      this.#findings.violate("I5", `a heartbeat kept ${runId} for attempt ${attempt}, which had passed`)
      return
    }
    this.#keep({ ...known, leaseEndsAt, isConfirmed: true })
  }

  onTransition(change: RunChange, outcome: string, now: Instant): void {
    const known = this.#runs.get(change.runId)
    this.#findings.mix(`transition ${change.runId} ${change.state} ${outcome}`)
    if (outcome !== "done") {
      if (change.outcome === "succeeded") this.#findings.note("zombie refused")
      return
    }
    if (known === undefined || known.attempt !== change.ifAttempt || known.state !== change.ifState) {
      this.#findings.violate(
        "I5",
        `${change.runId} was changed by attempt ${change.ifAttempt}, which had passed`,
      )
      return
    }
    if (isFinished(known.state) && !isRetry(known.state, change))
      this.#findings.violate("I7", `${known.id} was ${known.state} and became ${change.state}`)
    if (change.outcome === "failed" && change.failures !== known.failures + 1)
      this.#findings.violate("I12", `${known.id} forgot a failure`)
    if (change.failures > this.#options.attemptsAllowed(known.task))
      this.#findings.violate("I12", `${known.id} failed ${change.failures} times`)
    if (isGivenUp(change)) this.#onGivenUp(known)
    else if (change.outcome === "released") {
      this.#findings.note("released")
      if (known.isConfirmed && !this.#started.has(`${known.id} ${known.attempt}`))
        this.#findings.note("given back unbegun")
    }
    if (change.state === "cancelled")
      this.#findings.note(known.state === "running" ? "cancelled while running" : "cancelled while pending")
    const dueAt = change.claimableInMs === null ? known.dueAt : now + change.claimableInMs
    const { state, failures, lost } = change
    this.#keep({ ...known, state, failures, lost, dueAt, waitsSince: Math.max(now, dueAt) })
  }

  /** I12: of the first attempt alone it isn't known whether it was begun. */
  #onGivenUp({ id, attempt }: Known): void {
    this.#findings.note("given up as lost")
    const numbers = Array.from({ length: attempt }, (_, index) => index + 1)
    const keys = numbers.map((number) => `${id} ${number}`)
    const counted = keys.filter((key) => this.#started.has(key) || this.#cutOff.has(key)).length
    if (counted < LOST_MAX - 1)
      this.#findings.violate("I12", `${id} was given up after ${counted} attempts that were begun or cut off`)
  }

  #keep(run: Known): void {
    this.#runs.set(run.id, run)
    if (isFinished(run.state)) this.#unfinished.delete(run.id)
    else this.#unfinished.set(run.id, run)
  }

  /** I3: an execution has a grant, and a grant at most one execution. */
  onStart(runId: string, attempt: number): void {
    const key = `${runId} ${attempt}`
    if (this.#started.has(key)) this.#findings.violate("I3", `${key} was performed twice`)
    this.#started.add(key)
    const known = this.#runs.get(runId)
    // What was taken over meanwhile was given out with fewer.
    if (known?.attempt === attempt && known.lost >= LOST_MAX)
      this.#findings.violate("I12", `${key} was performed after it had cost ${LOST_MAX} workers`)
    if ((known?.attempt ?? 0) < attempt)
      this.#findings.violate("I3", `${key} was performed but never given out`)
  }

  /** I10: after the last fault and some quiet, nothing is overdue and nobody holds what they lost. */
  onEnd(now: Instant, toleranceMs: number): void {
    for (const run of this.#unfinished.values()) {
      if (run.state === "running" && run.leaseEndsAt < now - toleranceMs)
        this.#findings.violate("I10", `${run.id} runs without a lease`)
      if (run.state === "pending" && run.waitsSince < now - 6 * toleranceMs && run.concurrencyKey === null)
        this.#findings.violate("I10", `${run.id} waits since ${iso(run.waitsSince)}`)
    }
  }
}

export interface ObserverOptions {
  attemptsAllowed(task: string): number
  /** Nothing goes wrong in this world: a lease can't be lost. */
  readonly isCalm: boolean
  readonly troubles: Troubles
}

interface Known {
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
  /** A run can be due since before it was stored or given back. */
  readonly waitsSince: Instant
  readonly scheduledFor: Instant | null
  readonly leaseEndsAt: Instant
  readonly workerId: string
  /** Whether a heartbeat has told of the newest attempt. */
  readonly isConfirmed: boolean
  /** By the simulation's own time. */
  readonly claimedAt: Instant
}

function isRetry(state: RunState, change: RunChange): boolean {
  return change.state === "pending" && (state === "failed" || state === "cancelled")
}
