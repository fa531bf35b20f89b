import { BelfryError } from "../core/errors.ts"
import { CLOCK_TOLERANCE_MS, withLastRunInFuture } from "../core/planning/last-run-in-future.ts"
import { formatDuration } from "../core/time/duration.ts"
import { type Instant, SECOND } from "../core/time/instant.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Store } from "../store/store.ts"
import type { Events } from "./events.ts"

/** A reading of the store's clock, with the monotonic times of the question and the answer. */
export interface ClockReading {
  readonly now: Instant
  readonly askedAt: number
  readonly answeredAt: number
}

/** While the store's clock is behind it may be corrected at any time, so schedules are read this often. */
const CHECK_AGAIN_MS = 5 * SECOND

/** How many schedules a process checks when it starts. Schedules that fire often are all ahead, so a sample is enough. */
const SAMPLE_SIZE = 500

/**
 * By how much the store's clock went back between two readings. 0: it didn't. A jump forward doesn't count: a process that was
 * suspended sees the same, and missed occurrences are caught up with.
 */
export function steppedBackMs(before: ClockReading, after: ClockReading): number {
  const atLeast = before.now + Math.max(0, after.askedAt - before.answeredAt)
  const missing = atLeast - after.now
  return missing > CLOCK_TOLERANCE_MS ? missing : 0
}

/**
 * Reports when the store's clock is set back. Schedules that fired ahead of it, and leases of workers that died, then wait until
 * the clock has caught up. Nothing happens twice, but much happens late.
 */
export class StoreClock {
  readonly #context: { readonly logger: Logger; readonly events: Events }
  #last: ClockReading | null = null
  /** The latest instant known from before the clock went back: a reading, or a fire. Null: the clock has caught up. */
  #latest: Instant | null = null

  constructor(context: { readonly logger: Logger; readonly events: Events }) {
    this.#context = context
  }

  observe(reading: ClockReading): void {
    const last = this.#last
    this.#last = reading
    if (this.#latest !== null && reading.now > this.#latest) this.#latest = null
    const backMs = last === null ? 0 : steppedBackMs(last, reading)
    if (backMs === 0) return
    this.#latest = Math.max(this.#latest ?? 0, last!.now)
    const now = new Date(reading.now).toISOString()
    this.#report(`The store's clock went back by ${formatDuration(backMs)}, to ${now}.`, {
      backMs,
      now: reading.now,
    })
  }

  /** A process that starts after the clock was set back didn't see the step, but finds schedules that fired later than now. */
  async checkLastFires(store: Store): Promise<void> {
    const schedules = await store.findSchedules({}, { orderBy: "id", after: null, limit: SAMPLE_SIZE })
    const now = await store.now()
    const [first] = withLastRunInFuture(schedules, now)
    if (first === undefined) return
    this.#latest = Math.max(this.#latest ?? 0, first.lastRunAt!)
    const [last, current] = [first.lastRunAt!, now].map((at) => new Date(at).toISOString())
    this.#report(
      `Schedule "${first.id}" last fired at ${last}, but the store's clock says ${current}: the clock was set back.`,
      { now },
    )
  }

  /** Schedules are read again after this delay at the latest. */
  get checkAgainInMs(): number {
    return this.#latest === null ? Number.POSITIVE_INFINITY : CHECK_AGAIN_MS
  }

  #report(what: string, details: Readonly<Record<string, number>>): void {
    const { logger, events } = this.#context
    const text = `${what} ${CONSEQUENCE}`
    const error = new BelfryError("BELFRY_STORE_CLOCK", text, { details })
    logger.error({ component: "store", code: error.code, ...details }, text)
    events.error(error, "store")
  }
}

const CONSEQUENCE =
  "Schedules that fired later than that wait until the clock has caught up. No occurrence runs twice. To list them: belfry doctor"
