import type { Instant } from "../../src/core/instant.ts"
import type { FirePlan } from "../../src/core/plan.ts"
import { isRange, type NewRun } from "../../src/core/run.ts"
import type { Schedule } from "../../src/core/schedule.ts"
import { AHEAD_MAX_MS } from "../../src/engine/burst.ts"
import { Findings, iso } from "./findings.ts"
import { OccurrenceLedger } from "./occurrence-ledger.ts"
import { expectedOccurrences, isOwed } from "./oracle.ts"
import { type ObserverOptions, RunObserver } from "./run-observer.ts"

/** How long after its look at the records a plan may reach the store: two calls by a slow network, and a deadline. */
const RANGE_TRAVELS_MS = 10_000

/** How long after an edit a process that is in touch with the store may not know of it: a hint, a second, and a slow read. */
const EDIT_TRAVELS_MS = 10_000

/**
 * Stands before the store, sees every operation in the order it took effect, and keeps a record of its own: what must be
 * true of a scheduler is checked here at every step, against nothing but what was asked and answered.
 */
export class Observer {
  readonly runs: RunObserver
  readonly findings = new Findings()
  readonly #schedules = new Map<string, Schedule>()
  /** When an operator last changed each, or deleted it. */
  readonly #changedAt = new Map<string, Instant>()
  readonly #ledger = new OccurrenceLedger()
  readonly #options: ObserverOptions
  /** The latest that the store's clock has shown: it may be set back while a plan is under way. */
  #latest: Instant = 0

  constructor(options: ObserverOptions) {
    this.#options = options
    this.runs = new RunObserver(this.findings, options)
  }

  onPut(schedule: Schedule, ifVersion: number | null, version: number, now: Instant): void {
    const known = this.#schedules.get(schedule.id)
    this.findings.mix(`put ${schedule.id} ${version}`)
    if ((known?.version ?? null) !== ifVersion)
      this.findings.violate("I15", `${schedule.id} was overwritten at a version that had passed`)
    if (known !== undefined) {
      this.#checkCovered(known, known.coveredUntil ?? now, schedule.coveredUntil ?? now, "an edit")
      if (schedule.revision > known.revision) this.findings.note("edited")
    }
    if (schedule.revision !== known?.revision) this.#changedAt.set(schedule.id, this.#options.troubles.now)
    this.#schedules.set(schedule.id, { ...schedule, version })
  }

  onDelete(id: string): void {
    this.findings.mix(`delete ${id}`)
    this.#changedAt.set(id, this.#options.troubles.now)
    this.#schedules.delete(id)
  }

  onRead(now: Instant): void {
    this.#latest = Math.max(this.#latest, now)
  }

  onFire(plan: FirePlan, created: readonly string[], now: Instant, version: number): void {
    const known = this.#schedules.get(plan.scheduleId)
    this.onRead(now)
    this.findings.mix(`fire ${plan.scheduleId} ${plan.ifVersion} ${created.join()}`)
    if (known === undefined || known.version !== plan.ifVersion) {
      this.findings.violate(
        "I5",
        `${plan.scheduleId} was fired at version ${plan.ifVersion}, which had passed`,
      )
      return
    }
    if (plan.entry !== undefined) this.#changedAt.set(known.id, this.#options.troubles.now)
    // A run by hand is no occurrence, and whoever triggers a paused schedule means it.
    const occurrences = plan.runs.filter((run) => run.triggeredBy !== "manual")
    const runs = occurrences.filter((run) => run.state === "pending")
    if (known.paused !== null && runs.length > 0 && (known.paused.until ?? now + 1) > now) {
      this.findings.violate("I2", `${known.id} fired while it was paused`)
    }
    if (known.catchUp.policy !== "all" && runs.length > 1)
      this.findings.violate("I2", `${known.id} fired ${runs.length} at once`)
    const coveredUntil =
      plan.progress?.coveredUntil ?? Math.max(...plan.runs.map((run) => run.scheduledFor ?? 0))
    this.#checkRecords(known, occurrences, now)
    for (const run of runs)
      if (run.notBefore !== null && run.notBefore > this.#latest && !isSettledBeforeEdit(run, now)) {
        if (run.notBefore > this.#latest + AHEAD_MAX_MS)
          this.findings.violate("I8", `${run.id} was fired at ${now}, long before it was due`)
        this.findings.note("fired ahead")
      }
    this.#noteSkips(plan.runs)
    for (const run of plan.runs) {
      if (created.includes(run.id)) this.#onCreated(run, now)
      else if (!this.runs.wasCreated(run.id))
        this.findings.violate("I2", `${run.id} was lost on the way into the store`)
    }
    this.#checkCovered(known, known.coveredUntil ?? now, coveredUntil, "a fire")
    if (plan.progress === null) this.#schedules.delete(known.id)
    else this.#schedules.set(known.id, { ...known, ...plan.progress, version })
  }

  #noteSkips(runs: readonly NewRun[]): void {
    for (const run of runs) {
      if (run.state === "skipped") this.findings.note(`skipped: ${run.reason}`)
      else if (run.triggeredBy === "catchup") this.findings.note("caught up")
    }
  }

  /** I2: what lies between two watermarks has exactly one record each, or was left out by an operator's word. */
  #checkCovered(known: Schedule, from: Instant, until: Instant, by: string): void {
    if (!known.enabled || known.finishedAt !== null) return
    const overridden = new Set(known.overrides.map((override) => override.scheduledFor))
    for (const at of expectedOccurrences(known, from, until)) {
      const standing = this.#ledger.standingFor(known.id, at)
      if (standing.length > 1)
        this.findings.violate("I2", `${known.id} at ${iso(at)} has ${standing.join(" and ")}`)
      if (standing.length === 0 && !overridden.has(at))
        this.findings.violate("I2", `${known.id} at ${iso(at)} was passed over by ${by}`)
    }
  }

  /** I2: records say nothing that isn't so. */
  #checkRecords(known: Schedule, records: readonly NewRun[], now: Instant): void {
    const overridden = new Set(known.overrides.map((override) => override.scheduledFor))
    for (const run of records) {
      const isOccurrence = expectedOccurrences(known, run.scheduledFor! - 1, run.scheduledFor!).length === 1
      if (run.state === "pending" && !isOccurrence && !overridden.has(run.scheduledFor!))
        this.findings.violate("I2", `${run.id} is no occurrence`)
      const first = run.missed?.from ?? run.scheduledFor!
      const movedTo = known.overrides.find(({ scheduledFor }) => scheduledFor === first)?.dueAt
      const dueAt = movedTo ?? first + known.jitterMs
      if (run.reason === "paused" && known.paused !== null && dueAt < known.paused.at)
        this.findings.violate("I2", `${run.id} is recorded as paused, but the pause began later`)
      if (!isRange(run)) continue
      // One that comes while the range is on its way to the store has its own record all the same.
      const recorded = this.#ledger.recordedIn(run, now - RANGE_TRAVELS_MS)
      if (recorded.length > 0)
        this.findings.violate("I2", `${run.id} counts ${recorded[0]}, which has a record`)
      if (this.#ledger.recordedIn(run, now).length > 0)
        this.findings.note("fired from memory while a range was written")
    }
  }

  onEnqueue(run: NewRun, outcome: string, now: Instant): void {
    this.findings.mix(`enqueue ${run.id} ${outcome}`)
    if (run.scheduleId !== null && run.state === "skipped" && run.reason !== "overlap")
      this.findings.violate("I2", `${run.id} was recorded from memory: only the stored schedule knows`)
    if (outcome !== "created") return
    if (run.triggeredBy === "schedule") {
      this.findings.note("fired from memory")
      this.#checkFromMemory(run, now)
    }
    this.#onCreated(run, now)
  }

  /** I2: who fires from memory knows what was changed while it was in touch with the store. */
  #checkFromMemory(run: NewRun, now: Instant): void {
    const known = this.#schedules.get(run.scheduleId!)
    if (known !== undefined && isOwed(known, run.scheduledFor!, now)) return
    this.findings.note("fired from memory after an edit")
    const { troubles } = this.#options
    const changedAt = this.#changedAt.get(run.scheduleId!) ?? troubles.now
    const heardAt = changedAt + EDIT_TRAVELS_MS
    if (heardAt < troubles.now && troubles.wereNone(changedAt, heardAt))
      this.findings.violate(
        "I2",
        `${run.id} was fired from memory, ${troubles.now - changedAt} ms after an edit`,
      )
  }

  #onCreated(run: NewRun, now: Instant): void {
    this.runs.onCreated(run, now)
    this.#ledger.add(run, now)
  }

  /** I10: after the last fault and some quiet, nothing is overdue. */
  onEnd(now: Instant, toleranceMs: number): void {
    for (const { id, nextRunAt } of this.#schedules.values()) {
      if (nextRunAt !== null && nextRunAt < now - toleranceMs)
        this.findings.violate("I10", `${id} is due since ${iso(nextRunAt)}`)
    }
    this.runs.onEnd(now, toleranceMs)
  }
}

/** An edit turns what had its nominal time into a run that waits for its due time. */
function isSettledBeforeEdit(run: NewRun, now: Instant): boolean {
  return run.scheduledFor !== null && run.scheduledFor <= now
}
