import { formatDuration } from "../core/duration.ts"
import { BelfryError } from "../core/errors.ts"
import { type Instant, SECOND } from "../core/instant.ts"
import type { Events } from "./events.ts"
import type { Logger } from "./logger.ts"

/** What the store's clock said, and when it was asked and had answered by our own, which never goes back. */
export interface ClockReading {
  readonly now: Instant
  readonly askedAt: number
  readonly answeredAt: number
}

/** Two clocks that both run drift apart by milliseconds a minute; a server that takes over may be a second or two behind. */
const TOLERANCE_MS = 5 * SECOND

/**
 * By how much the store's clock went back between two readings; 0 if it didn't. That it goes forward is no step: a process that
 * was suspended sees the same, and what was missed is caught up with.
 */
export function steppedBackMs(before: ClockReading, after: ClockReading): number {
  const atLeast = before.now + Math.max(0, after.askedAt - before.answeredAt)
  const missing = atLeast - after.now
  return missing > TOLERANCE_MS ? missing : 0
}

/**
 * Watches the store's clock. When it is set back, schedules that fired ahead of it wait until it has caught up, and so do the leases
 * of workers that died: nothing happens twice, but much happens late, and somebody should know.
 */
export class StoreClock {
  readonly #context: { readonly logger: Logger; readonly events: Events }
  #last: ClockReading | null = null

  constructor(context: { readonly logger: Logger; readonly events: Events }) {
    this.#context = context
  }

  saw(reading: ClockReading): void {
    const backMs = this.#last === null ? 0 : steppedBackMs(this.#last, reading)
    this.#last = reading
    if (backMs === 0) return
    const { logger, events } = this.#context
    const now = new Date(reading.now).toISOString()
    const text =
      `The store's clock went back by ${formatDuration(backMs)}, to ${now}. Schedules that fired later than that wait until it ` +
      "has caught up; none of their occurrences runs twice. See which: belfry doctor"
    const error = new BelfryError("BELFRY_STORE_CLOCK", text, { details: { backMs, now: reading.now } })
    logger.error({ component: "store", code: error.code, backMs }, text)
    events.error(error, "store")
  }
}
