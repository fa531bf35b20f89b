import type { Instant } from "../../src/core/instant.ts"
import type { FirePlan } from "../../src/core/plan.ts"
import {
  firstClaimableAt,
  isFinished,
  isGivenUp,
  isRange,
  LOST_MAX,
  type NewRun,
  type Run,
  type RunChange,
  type RunState,
} from "../../src/core/run.ts"
import type { Schedule } from "../../src/core/schedule.ts"
import { AHEAD_MAX_MS } from "../../src/engine/burst.ts"
import { OccurrenceLedger } from "./occurrence-ledger.ts"
import { expectedOccurrences, isOwed } from "./oracle.ts"
import type { Troubles } from "./troubles.ts"

/** How long after its look at the records a plan may reach the store: two calls by a slow network, and a deadline. */
const RANGE_TRAVELS_MS = 10_000

/** How long after an edit a process that is in touch with the store may not know of it: a hint, a second, and a slow read. */
const EDIT_TRAVELS_MS = 10_000

/**
 * Stands before the store, sees every operation in the order it took effect, and keeps a record of its own: what must be
 * true of a scheduler is checked here at every step, against nothing but what was asked and answered.
 */
export class Observer {
  readonly violations: string[] = []
  readonly situations = new Map<string, number>()
  readonly #schedules = new Map<string, Schedule>()
  /** When an operator last changed each, or deleted it. */
  readonly #changedAt = new Map<string, Instant>()
  readonly #runs = new Map<string, Known>()
  readonly #unfinished = new Map<string, Known>()
  readonly #everCreated = new Set<string>()
  readonly #ledger = new OccurrenceLedger()
  readonly #started = new Set<string>()
  readonly #options: ObserverOptions
  /** The latest that the store's clock has shown: it may be set back while a plan is under way. */
  #latest: Instant = 0
  hash = 0

  constructor(options: ObserverOptions) {
    this.#options = options
  }

  note(situation: string): void {
    this.situations.set(situation, (this.situations.get(situation) ?? 0) + 1)
  }

  /** The course of the simulation in one number: the same seed must give the same. */
  #mix(text: string): void {
    for (let index = 0; index < text.length; index++)
      this.hash = (Math.imul(this.hash, 31) + text.charCodeAt(index)) | 0
  }

  #violate(invariant: string, what: string): void {
    if (this.violations.length < 20) this.violations.push(`${invariant}: ${what}`)
  }

  onPut(schedule: Schedule, ifVersion: number | null, version: number, now: Instant): void {
    const known = this.#schedules.get(schedule.id)
    this.#mix(`put ${schedule.id} ${version}`)
    if ((known?.version ?? null) !== ifVersion)
      this.#violate("I15", `${schedule.id} was overwritten at a version that had passed`)
    if (known !== undefined) {
      this.#checkCovered(known, known.coveredUntil ?? now, schedule.coveredUntil ?? now, "an edit")
      if (schedule.revision > known.revision) this.note("edited")
    }
    if (schedule.revision !== known?.revision) this.#changedAt.set(schedule.id, this.#options.troubles.now)
    this.#schedules.set(schedule.id, { ...schedule, version })
  }

  onDelete(id: string, now: Instant): void {
    this.#mix(`delete ${id}`)
    this.#changedAt.set(id, this.#options.troubles.now)
    this.#schedules.delete(id)
    for (const skip of this.#ledger.forgetSkips(id, now)) {
      this.#everCreated.delete(skip)
      this.#runs.delete(skip)
    }
  }

  onRead(now: Instant): void {
    this.#latest = Math.max(this.#latest, now)
  }

  onFire(plan: FirePlan, created: readonly string[], now: Instant, version: number): void {
    const known = this.#schedules.get(plan.scheduleId)
    this.onRead(now)
    this.#mix(`fire ${plan.scheduleId} ${plan.ifVersion} ${created.join()}`)
    if (known === undefined || known.version !== plan.ifVersion) {
      this.#violate("I5", `${plan.scheduleId} was fired at version ${plan.ifVersion}, which had passed`)
      return
    }
    if (plan.isSteered === true) this.#changedAt.set(known.id, this.#options.troubles.now)
    const runs = plan.runs.filter((run) => run.state === "pending")
    if (known.paused !== null && runs.length > 0 && (known.paused.until ?? now + 1) > now) {
      this.#violate("I2", `${known.id} fired while it was paused`)
    }
    if (known.catchUp.policy !== "all" && runs.length > 1)
      this.#violate("I2", `${known.id} fired ${runs.length} at once`)
    const coveredUntil =
      plan.progress?.coveredUntil ?? Math.max(...plan.runs.map((run) => run.scheduledFor ?? 0))
    this.#checkRecords(known, plan.runs, now)
    for (const run of runs)
      if (run.notBefore !== null && run.notBefore > this.#latest && !isSettledBeforeEdit(run, now)) {
        if (run.notBefore > this.#latest + AHEAD_MAX_MS)
          this.#violate("I8", `${run.id} was fired at ${now}, long before it was due`)
        this.note("fired ahead")
      }
    this.#noteSkips(plan.runs)
    for (const run of plan.runs) {
      if (created.includes(run.id)) this.#onCreated(run, now)
      else if (!this.#everCreated.has(run.id))
        this.#violate("I2", `${run.id} was lost on the way into the store`)
    }
    this.#checkCovered(known, known.coveredUntil ?? now, coveredUntil, "a fire")
    if (plan.progress === null) this.#schedules.delete(known.id)
    else this.#schedules.set(known.id, { ...known, ...plan.progress, version })
  }

  #noteSkips(runs: readonly NewRun[]): void {
    for (const run of runs) {
      if (run.state === "skipped") this.note(`skipped: ${run.reason}`)
      else if (run.triggeredBy === "catchup") this.note("caught up")
    }
  }

  /** I2: what lies between two watermarks has exactly one record each, or was left out by an operator's word. */
  #checkCovered(known: Schedule, from: Instant, until: Instant, by: string): void {
    if (!known.enabled || known.finishedAt !== null) return
    const overridden = new Set(known.overrides.map((override) => override.scheduledFor))
    for (const at of expectedOccurrences(known, from, until)) {
      const standing = this.#ledger.standingFor(known.id, at)
      if (standing.length > 1) this.#violate("I2", `${known.id} at ${iso(at)} has ${standing.join(" and ")}`)
      if (standing.length === 0 && !overridden.has(at))
        this.#violate("I2", `${known.id} at ${iso(at)} was passed over by ${by}`)
    }
  }

  /** I2: records say nothing that isn't so. */
  #checkRecords(known: Schedule, records: readonly NewRun[], now: Instant): void {
    const overridden = new Set(known.overrides.map((override) => override.scheduledFor))
    for (const run of records) {
      const isOccurrence = expectedOccurrences(known, run.scheduledFor! - 1, run.scheduledFor!).length === 1
      if (run.state === "pending" && !isOccurrence && !overridden.has(run.scheduledFor!))
        this.#violate("I2", `${run.id} is no occurrence`)
      const first = run.missed?.from ?? run.scheduledFor!
      const movedTo = known.overrides.find(({ scheduledFor }) => scheduledFor === first)?.dueAt
      const dueAt = movedTo ?? first + known.jitterMs
      if (run.reason === "paused" && known.paused !== null && dueAt < known.paused.at)
        this.#violate("I2", `${run.id} is recorded as paused, but the pause began later`)
      if (!isRange(run)) continue
      // One that comes while the range is on its way to the store has its own record all the same.
      const recorded = this.#ledger.recordedIn(run, now - RANGE_TRAVELS_MS)
      if (recorded.length > 0) this.#violate("I2", `${run.id} counts ${recorded[0]}, which has a record`)
      if (this.#ledger.recordedIn(run, now).length > 0)
        this.note("fired from memory while a range was written")
    }
  }

  onEnqueue(run: NewRun, outcome: string, now: Instant): void {
    this.#mix(`enqueue ${run.id} ${outcome}`)
    if (run.scheduleId !== null && run.state === "skipped" && run.reason !== "overlap")
      this.#violate("I2", `${run.id} was recorded from memory: only the stored schedule knows`)
    if (outcome !== "created") return
    if (run.triggeredBy === "schedule") {
      this.note("fired from memory")
      this.#checkFromMemory(run, now)
    }
    this.#onCreated(run, now)
  }

  /** I2: who fires from memory knows what was changed while it was in touch with the store. */
  #checkFromMemory(run: NewRun, now: Instant): void {
    const known = this.#schedules.get(run.scheduleId!)
    if (known !== undefined && isOwed(known, run.scheduledFor!, now)) return
    this.note("fired from memory after an edit")
    const { troubles } = this.#options
    const changedAt = this.#changedAt.get(run.scheduleId!) ?? troubles.now
    const heardAt = changedAt + EDIT_TRAVELS_MS
    if (heardAt < troubles.now && troubles.wereNone(changedAt, heardAt))
      this.#violate("I2", `${run.id} was fired from memory, ${troubles.now - changedAt} ms after an edit`)
  }

  #onCreated(run: NewRun, now: Instant): void {
    if (this.#everCreated.has(run.id)) this.#violate("I1", `${run.id} was created twice`)
    this.#everCreated.add(run.id)
    this.#ledger.add(run, now)
    const dueAt = firstClaimableAt(run, now)
    const { task, concurrencyKey, concurrencyLimit, liveKey } = run
    const rival =
      liveKey === null ? undefined : [...this.#unfinished.values()].find((other) => other.liveKey === liveKey)
    if (rival !== undefined && run.state === "pending")
      this.#violate("I1", `${run.id} shares a live key with ${rival.id}`)
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
    this.#mix(`claim ${run.id} ${run.attempt} ${run.workerId}`)
    if (known === undefined) {
      this.#violate("I3", `${run.id} was claimed but never created`)
      return
    }
    if (run.attempt !== known.attempt + 1)
      this.#violate("I4", `${run.id} went from attempt ${known.attempt} to ${run.attempt}`)
    if (isFinished(known.state)) this.#violate("I7", `${run.id} was claimed although it is ${known.state}`)
    // One that is taken over had its time: the store's clock may have been set back since.
    if (known.state === "pending" && now < known.dueAt)
      this.#violate("I8", `${run.id} was given out ${known.dueAt - now} ms early`)
    const dueAt = known.state === "running" ? known.leaseEndsAt : known.dueAt
    if (run.dueAt !== dueAt) this.#violate("I8", `${run.id} was due at ${dueAt}, not at ${run.dueAt}`)
    if (known.state === "running") {
      if (now < known.leaseEndsAt)
        this.#violate(
          "I4",
          `${run.id} was taken from ${known.workerId} ${known.leaseEndsAt - now} ms before its lease ended`,
        )
      this.note("taken over")
      if (this.#options.isCalm)
        this.#violate("I6", `${run.id} was taken from ${known.workerId}, which was well`)
      if (run.lost !== known.lost + (known.isConfirmed ? 1 : 0))
        this.#violate("I12", `${run.id} lost ${known.lost} workers, and ${run.lost} are counted`)
      if (!known.isConfirmed) this.note("taken over before it was begun")
      else this.#checkBegun(known)
    }
    if (run.failures !== known.failures)
      this.#violate("I12", `${run.id} has ${run.failures} failures; ${known.failures} were stored`)
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
    if (this.#started.has(`${id} ${attempt}`) || !troubles.wereNone(claimedAt, troubles.now)) return
    this.#violate("I12", `${id} lost attempt ${attempt}, which ${workerId} never began`)
  }

  #checkConcurrency(run: Run): void {
    if (run.concurrencyKey === null || run.concurrencyLimit === null) return
    const running = [...this.#unfinished.values()].filter(
      (other) => other.concurrencyKey === run.concurrencyKey && other.state === "running",
    )
    if (running.length > run.concurrencyLimit)
      this.#violate("Serial", `${running.length} runs of ${run.concurrencyKey} are running`)
  }

  onBeat(runId: string, attempt: number, leaseEndsAt: Instant): void {
    const known = this.#runs.get(runId)
    if (known === undefined || known.attempt !== attempt || known.state !== "running") {
      this.#violate("I5", `a heartbeat kept ${runId} for attempt ${attempt}, which had passed`)
      return
    }
    this.#keep({ ...known, leaseEndsAt, isConfirmed: true })
  }

  onTransition(change: RunChange, outcome: string, now: Instant): void {
    const known = this.#runs.get(change.runId)
    this.#mix(`transition ${change.runId} ${change.state} ${outcome}`)
    if (outcome !== "done") {
      if (change.outcome === "succeeded") this.note("zombie refused")
      return
    }
    if (known === undefined || known.attempt !== change.ifAttempt || known.state !== change.ifState) {
      this.#violate("I5", `${change.runId} was changed by attempt ${change.ifAttempt}, which had passed`)
      return
    }
    if (isFinished(known.state) && !isRetry(known.state, change))
      this.#violate("I7", `${known.id} was ${known.state} and became ${change.state}`)
    if (change.outcome === "failed" && change.failures !== known.failures + 1)
      this.#violate("I12", `${known.id} forgot a failure`)
    if (change.failures > this.#options.attemptsAllowed(known.task))
      this.#violate("I12", `${known.id} failed ${change.failures} times`)
    if (isGivenUp(change)) this.#onGivenUp(known)
    else if (change.outcome === "released") {
      this.note("released")
      if (known.isConfirmed && !this.#started.has(`${known.id} ${known.attempt}`))
        this.note("given back unbegun")
    }
    if (change.state === "cancelled")
      this.note(known.state === "running" ? "cancelled while running" : "cancelled while pending")
    const dueAt = change.claimableInMs === null ? known.dueAt : now + change.claimableInMs
    const { state, failures, lost } = change
    this.#keep({ ...known, state, failures, lost, dueAt, waitsSince: Math.max(now, dueAt) })
  }

  /** I12: of the first attempt alone it isn't known whether it was begun. */
  #onGivenUp({ id, attempt }: Known): void {
    this.note("given up as lost")
    const numbers = Array.from({ length: attempt }, (_, index) => index + 1)
    const begun = numbers.filter((number) => this.#started.has(`${id} ${number}`)).length
    if (begun < LOST_MAX - 1)
      this.#violate("I12", `${id} was given up after ${begun} attempts that were begun`)
  }

  #keep(run: Known): void {
    this.#runs.set(run.id, run)
    if (isFinished(run.state)) this.#unfinished.delete(run.id)
    else this.#unfinished.set(run.id, run)
  }

  /** I3: an execution has a grant, and a grant at most one execution. */
  onStart(runId: string, attempt: number): void {
    const key = `${runId} ${attempt}`
    if (this.#started.has(key)) this.#violate("I3", `${key} was performed twice`)
    this.#started.add(key)
    if ((this.#runs.get(runId)?.lost ?? 0) >= LOST_MAX)
      this.#violate("I12", `${key} was performed after it had cost ${LOST_MAX} workers`)
    if ((this.#runs.get(runId)?.attempt ?? 0) < attempt)
      this.#violate("I3", `${key} was performed but never given out`)
  }

  /** I10: after the last fault and some quiet, nothing is overdue and nobody holds what they lost. */
  onEnd(now: Instant, toleranceMs: number): void {
    for (const { id, nextRunAt } of this.#schedules.values()) {
      if (nextRunAt !== null && nextRunAt < now - toleranceMs)
        this.#violate("I10", `${id} is due since ${iso(nextRunAt)}`)
    }
    for (const run of this.#unfinished.values()) {
      if (run.state === "running" && run.leaseEndsAt < now - toleranceMs)
        this.#violate("I10", `${run.id} runs without a lease`)
      if (run.state === "pending" && run.waitsSince < now - 6 * toleranceMs && run.concurrencyKey === null)
        this.#violate("I10", `${run.id} waits since ${iso(run.waitsSince)}`)
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

/** An edit turns what had its nominal time into a run that waits for its due time. */
function isSettledBeforeEdit(run: NewRun, now: Instant): boolean {
  return run.scheduledFor !== null && run.scheduledFor <= now
}

function isRetry(state: RunState, change: RunChange): boolean {
  return change.state === "pending" && (state === "failed" || state === "cancelled")
}

function iso(instant: Instant): string {
  return new Date(instant).toISOString()
}
