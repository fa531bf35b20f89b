import { isRange, type NewRun } from "../../src/core/run/run.ts"
import type { Instant } from "../../src/core/time/instant.ts"

/** The observer's own record of each occurrence. Unlike the store's, it is never pruned. */
export class OccurrenceLedger {
  readonly #own = new Map<string, Map<Instant, Entry>>()
  readonly #ranges = new Map<string, Entry[]>()

  /** Adds a run that the store says it created. */
  add(run: NewRun, now: Instant): void {
    const { scheduleId, scheduledFor } = run
    if (scheduleId === null || scheduledFor === null || isOutsideTimetable(run)) return
    const entry = { id: run.id, at: now, from: run.missed?.from ?? scheduledFor, until: scheduledFor }
    if (isRange(run)) this.#rangesOf(scheduleId).push(entry)
    else this.#ownOf(scheduleId).set(scheduledFor, entry)
  }

  /** The records of an occurrence: its own record, or else the ranges that contain it. */
  recordsFor(scheduleId: string, at: Instant): readonly string[] {
    const own = this.#ownOf(scheduleId).get(at)
    if (own !== undefined) return [own.id]
    const ranges = this.#rangesOf(scheduleId).filter(({ from, until }) => from <= at && at <= until)
    return ranges.map(({ id }) => id)
  }

  /** The occurrences inside a range that had a record of their own before `since`. */
  recordedIn(range: NewRun, since: Instant): readonly string[] {
    const { from, until } = range.missed!
    const own = [...this.#ownOf(range.scheduleId!).values()]
    return own
      .filter(({ until: at, at: recordedAt }) => from <= at && at <= until && recordedAt < since)
      .map(({ id }) => id)
  }

  #ownOf(scheduleId: string): Map<Instant, Entry> {
    const known = this.#own.get(scheduleId) ?? new Map<Instant, Entry>()
    this.#own.set(scheduleId, known)
    return known
  }

  #rangesOf(scheduleId: string): Entry[] {
    const known = this.#ranges.get(scheduleId) ?? []
    this.#ranges.set(scheduleId, known)
    return known
  }
}

interface Entry {
  readonly id: string
  /** The time of the record, by the store's clock. */
  readonly at: Instant
  readonly from: Instant
  readonly until: Instant
}

/** Backfilled, manual and enqueued runs are not records of occurrences. */
function isOutsideTimetable({ triggeredBy }: NewRun): boolean {
  return triggeredBy === "backfill" || triggeredBy === "manual" || triggeredBy === "api"
}
