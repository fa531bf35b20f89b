import type { Instant } from "../../src/core/instant.ts"
import { isRange, type NewRun } from "../../src/core/run.ts"

/** The observer's own record of what became of each occurrence. Unlike the store's, it forgets nothing. */
export class OccurrenceLedger {
  readonly #own = new Map<string, Map<Instant, Kept>>()
  readonly #ranges = new Map<string, Kept[]>()

  /** Only what the store says it created. */
  add(run: NewRun, now: Instant): void {
    const { scheduleId, scheduledFor } = run
    if (scheduleId === null || scheduledFor === null || isBesides(run)) return
    const kept = { id: run.id, at: now, from: run.missed?.from ?? scheduledFor, until: scheduledFor }
    if (isRange(run)) this.#rangesOf(scheduleId).push(kept)
    else this.#ownOf(scheduleId).set(scheduledFor, kept)
  }

  /** The records that stand for an occurrence: its own, or else the ranges it lies in. */
  standingFor(scheduleId: string, at: Instant): readonly string[] {
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

  #ownOf(scheduleId: string): Map<Instant, Kept> {
    const known = this.#own.get(scheduleId) ?? new Map<Instant, Kept>()
    this.#own.set(scheduleId, known)
    return known
  }

  #rangesOf(scheduleId: string): Kept[] {
    const known = this.#ranges.get(scheduleId) ?? []
    this.#ranges.set(scheduleId, known)
    return known
  }
}

interface Kept {
  readonly id: string
  /** When it was recorded, by the store's clock. */
  readonly at: Instant
  readonly from: Instant
  readonly until: Instant
}

/** Runs of backfills and by hand stand for no occurrence. */
function isBesides({ triggeredBy }: NewRun): boolean {
  return triggeredBy === "backfill" || triggeredBy === "manual" || triggeredBy === "api"
}
