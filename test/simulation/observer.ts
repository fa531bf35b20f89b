import type { FirePlan } from "../../src/core/planning/plan.ts"
import { isRange, type NewRun } from "../../src/core/run/run.ts"
import type { NewSchedule, Schedule } from "../../src/core/schedule/schedule.ts"
import { storedSchedule } from "../../src/core/schedule/stored-schedule.ts"
import type { Instant } from "../../src/core/time/instant.ts"
import { AHEAD_MAX_MS } from "../../src/engine/burst.ts"
import { Findings, iso } from "./findings.ts"
import { OccurrenceLedger } from "./occurrence-ledger.ts"
import { expectedOccurrences, isOwed } from "./oracle.ts"
import { type ObserverOptions, RunObserver } from "./run-observer.ts"

/** The longest time from the read of records to the write of the plan: two calls on a slow network, and a deadline. */
const RANGE_TRAVEL_MS = 10_000

/** The longest time after which a connected process knows of an edit: a hint, a second, and a slow read. */
const EDIT_TRAVEL_MS = 10_000

/**
 * Sits between the processes and the store, sees every operation in the order of its effect, and keeps its own record. It checks
 * the invariants of a scheduler at each step, using only requests and replies.
 */
export class Observer {
  readonly runs: RunObserver
  readonly findings = new Findings()
  readonly #schedules = new Map<string, Schedule>()
  /** When an operator last changed or deleted each schedule. */
  readonly #changedAt = new Map<string, Instant>()
  readonly #ledger = new OccurrenceLedger()
  readonly #options: ObserverOptions
  /** The latest time that the store's clock has shown. The clock may be set back while a plan is under way. */
  #latest: Instant = 0

  constructor(options: ObserverOptions) {
    this.#options = options
    this.runs = new RunObserver(this.findings, options)
  }

  onPut(schedule: NewSchedule, ifVersion: number | null, version: number, now: Instant): void {
    const known = this.#schedules.get(schedule.id)
    this.findings.mix(`put ${schedule.id} ${version}`)
    if ((known?.version ?? null) !== ifVersion)
      this.findings.violate("I15", `${schedule.id} was overwritten with an outdated version`)
    if (known !== undefined) {
      this.#checkCovered(known, known.coveredUntil ?? now, schedule.coveredUntil ?? now, "an edit")
      if (schedule.revision > known.revision) this.findings.note("edited")
    }
    if (schedule.revision !== known?.revision) this.#changedAt.set(schedule.id, this.#options.troubles.now)
    this.#schedules.set(schedule.id, storedSchedule(schedule, version))
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
      this.findings.violate("I5", `${plan.scheduleId} was fired with the outdated version ${plan.ifVersion}`)
      return
    }
    if (plan.entry !== undefined) this.#changedAt.set(known.id, this.#options.troubles.now)
    // A manual run is not an occurrence, and a paused schedule may be triggered on purpose.
    const occurrences = plan.runs.filter((run) => run.triggeredBy !== "manual")
    const runs = occurrences.filter((run) => run.state === "pending")
    if (known.paused !== null && runs.length > 0 && (known.paused.until ?? now + 1) > now) {
      this.findings.violate("I2", `${known.id} fired while it was paused`)
    }
    if (known.catchUp.policy !== "all" && runs.length > 1)
      this.findings.violate("I2", `${known.id} fired ${runs.length} runs at once`)
    const coveredUntil =
      plan.progress?.coveredUntil ?? Math.max(...plan.runs.map((run) => run.scheduledFor ?? 0))
    this.#checkRecords(known, occurrences, now)
    for (const run of runs)
      if (run.notBefore !== null && run.notBefore > this.#latest && !isSettledBeforeEdit(run, now)) {
        if (run.notBefore > this.#latest + AHEAD_MAX_MS)
          this.findings.violate(
            "I8",
            `${run.id} was fired at ${now}, more than ${AHEAD_MAX_MS} ms before it was due`,
          )
        this.findings.note("fired ahead")
      }
    this.#noteSkips(plan.runs)
    for (const run of plan.runs) {
      if (created.includes(run.id)) this.#onCreated(run, now)
      else if (!this.runs.wasCreated(run.id))
        this.findings.violate("I2", `${run.id} was neither created nor there before`)
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

  /** I2: each occurrence between two watermarks has exactly one record, or an override by an operator. */
  #checkCovered(known: Schedule, from: Instant, until: Instant, by: string): void {
    if (!known.enabled || known.finishedAt !== null) return
    const overridden = new Set(known.overrides.map((override) => override.scheduledFor))
    for (const at of expectedOccurrences(known, from, until)) {
      const records = this.#ledger.recordsFor(known.id, at)
      if (records.length > 1)
        this.findings.violate("I2", `${known.id} at ${iso(at)} has ${records.join(" and ")}`)
      if (records.length === 0 && !overridden.has(at))
        this.findings.violate("I2", `${known.id} at ${iso(at)} has no record after ${by}`)
    }
  }

  /** I2: the records of a plan are true. */
  #checkRecords(known: Schedule, records: readonly NewRun[], now: Instant): void {
    const overridden = new Set(known.overrides.map((override) => override.scheduledFor))
    for (const run of records) {
      const isOccurrence = expectedOccurrences(known, run.scheduledFor! - 1, run.scheduledFor!).length === 1
      if (run.state === "pending" && !isOccurrence && !overridden.has(run.scheduledFor!))
        this.findings.violate("I2", `${run.id} is not an occurrence`)
      const first = run.missed?.from ?? run.scheduledFor!
      const movedTo = known.overrides.find(({ scheduledFor }) => scheduledFor === first)?.dueAt
      const dueAt = movedTo ?? first + known.jitterMs
      if (run.reason === "paused" && known.paused !== null && dueAt < known.paused.at)
        this.findings.violate("I2", `${run.id} is recorded as paused, but the pause began later`)
      if (!isRange(run)) continue
      // An occurrence recorded while the range is under way has its own record too, which is allowed.
      const recorded = this.#ledger.recordedIn(run, now - RANGE_TRAVEL_MS)
      if (recorded.length > 0)
        this.findings.violate("I2", `${run.id} counts ${recorded[0]}, which has a record`)
      if (this.#ledger.recordedIn(run, now).length > 0)
        this.findings.note("fired from memory while a range was written")
    }
  }

  onEnqueue(run: NewRun, outcome: string, now: Instant): void {
    this.findings.mix(`enqueue ${run.id} ${outcome}`)
    if (run.scheduleId !== null && run.state === "skipped" && run.reason !== "overlap")
      this.findings.violate("I2", `${run.id} was skipped from memory, which only a stored schedule may do`)
    if (outcome !== "created") return
    if (run.triggeredBy === "schedule") {
      this.findings.note("fired from memory")
      this.#checkFromMemory(run, now)
    }
    this.#onCreated(run, now)
  }

  /** I2: a process that fires from memory knows the changes that were made while it could reach the store. */
  #checkFromMemory(run: NewRun, now: Instant): void {
    const known = this.#schedules.get(run.scheduleId!)
    if (known !== undefined && isOwed(known, run.scheduledFor!, now)) return
    this.findings.note("fired from memory after an edit")
    const { troubles } = this.#options
    const changedAt = this.#changedAt.get(run.scheduleId!) ?? troubles.now
    const knownAt = changedAt + EDIT_TRAVEL_MS
    if (knownAt < troubles.now && troubles.wereNone(changedAt, knownAt))
      this.findings.violate(
        "I2",
        `${run.id} was fired from memory, ${troubles.now - changedAt} ms after an edit`,
      )
  }

  #onCreated(run: NewRun, now: Instant): void {
    this.runs.onCreated(run, now)
    this.#ledger.add(run, now)
  }

  /** I10: some time after the last fault, nothing is overdue. */
  onEnd(now: Instant, toleranceMs: number): void {
    for (const { id, nextRunAt } of this.#schedules.values()) {
      if (nextRunAt !== null && nextRunAt < now - toleranceMs)
        this.findings.violate("I10", `${id} is due since ${iso(nextRunAt)}`)
    }
    this.runs.onEnd(now, toleranceMs)
  }
}

/** An edit makes a run of an occurrence whose nominal time has passed. The run then waits for its due time. */
function isSettledBeforeEdit(run: NewRun, now: Instant): boolean {
  return run.scheduledFor !== null && run.scheduledFor <= now
}
