import { formatDuration } from "../core/duration.ts"
import { BelfryError } from "../core/errors.ts"
import { CLOCK_TOLERANCE_MS, firedAhead } from "../core/fired-ahead.ts"
import { type Instant, SECOND } from "../core/instant.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Store } from "../store/store.ts"
import type { Events } from "./events.ts"

/** What the store's clock said, and when it was asked and had answered by our own, which never goes back. */
export interface ClockReading {
  readonly now: Instant
  readonly askedAt: number
  readonly answeredAt: number
}

/** While the store's clock is behind, it may be set right at any moment: schedules are looked at this often. */
const LOOK_AGAIN_MS = 5 * SECOND

/** How many schedules are looked at when a process starts. Those that fire often are all ahead, so a sample shows it. */
const LOOKED_AT = 500

/**
 * By how much the store's clock went back between two readings; 0 if it didn't. That it goes forward is no step: a process that
 * was suspended sees the same, and what was missed is caught up with.
 */
export function steppedBackMs(before: ClockReading, after: ClockReading): number {
  const atLeast = before.now + Math.max(0, after.askedAt - before.answeredAt)
  const missing = atLeast - after.now
  return missing > CLOCK_TOLERANCE_MS ? missing : 0
}

/**
 * Watches the store's clock. When it is set back, schedules that fired ahead of it wait until it has caught up, and so do the leases
 * of workers that died: nothing happens twice, but much happens late, and somebody should know.
 */
export class StoreClock {
  readonly #context: { readonly logger: Logger; readonly events: Events }
  #last: ClockReading | null = null
  /** What it said before it went back, or what was fired by it; null once it has caught up. */
  #latest: Instant | null = null

  constructor(context: { readonly logger: Logger; readonly events: Events }) {
    this.#context = context
  }

  saw(reading: ClockReading): void {
    const last = this.#last
    this.#last = reading
    if (this.#latest !== null && reading.now > this.#latest) this.#latest = null
    const backMs = last === null ? 0 : steppedBackMs(last, reading)
    if (backMs === 0) return
    this.#latest = Math.max(this.#latest ?? 0, last!.now)
    const now = new Date(reading.now).toISOString()
    this.#tell(`The store's clock went back by ${formatDuration(backMs)}, to ${now}.`, {
      backMs,
      now: reading.now,
    })
  }

  /** A process that starts after the clock was set back has seen nothing of it, but finds what was fired later than now. */
  async lookBack(store: Store): Promise<void> {
    const schedules = await store.findSchedules({}, { orderBy: "id", after: null, limit: LOOKED_AT })
    const now = await store.now()
    const [first] = firedAhead(schedules, now)
    if (first === undefined) return
    this.#latest = Math.max(this.#latest ?? 0, first.lastRunAt!)
    const [last, said] = [first.lastRunAt!, now].map((at) => new Date(at).toISOString())
    this.#tell(
      `Schedule "${first.id}" last fired at ${last}, and the store's clock says ${said}: it was set back.`,
      { now },
    )
  }

  /** How long until the next look, at most. */
  get lookAgainInMs(): number {
    return this.#latest === null ? Number.POSITIVE_INFINITY : LOOK_AGAIN_MS
  }

  #tell(what: string, details: Readonly<Record<string, number>>): void {
    const { logger, events } = this.#context
    const text = `${what} ${CONSEQUENCE}`
    const error = new BelfryError("BELFRY_STORE_CLOCK", text, { details })
    logger.error({ component: "store", code: error.code, ...details }, text)
    events.error(error, "store")
  }
}

const CONSEQUENCE =
  "Schedules that fired later than that wait until it has caught up; none of their occurrences runs twice. See which: belfry doctor"
