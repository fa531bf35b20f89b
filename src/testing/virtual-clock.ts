import { checkedValue, type OptionSource } from "../core/options/checked.ts"
import { integer, required } from "../core/options/option-types.ts"
import { EARLIEST, type Instant, LATEST } from "../core/time/instant.ts"
import type { Clock } from "../runtime/clock.ts"
import { Timeline } from "./timeline.ts"

/** A clock that stands still until its timeline is moved. Random numbers are seeded, and ids count up: tests are repeatable. */
export interface VirtualClock extends Clock {
  readonly timeline: Timeline
}

/** Creates a clock that starts at `startAt`. The same `seed` gives the same random numbers. */
export function createVirtualClock(startAt: Instant, seed = 1): VirtualClock {
  const source: OptionSource = { code: "BELFRY_INSTANT_INVALID", subject: "createVirtualClock" }
  checkedValue(startAt, START_AT, { source, option: "startAt" })
  checkedValue(seed, SEED, { source, option: "seed" })
  const timeline = new Timeline(startAt)
  const random = seededRandom(seed)
  let ids = 0
  return {
    timeline,
    now: () => timeline.now,
    monotonic: () => timeline.now - startAt,
    setTimer: (delayMs, callback) => timeline.setTimer(delayMs, callback),
    random,
    newId: () => `virtual-${String(++ids).padStart(6, "0")}`,
  }
}

/** In milliseconds, as all instants inside Belfry. */
const START_AT = required(integer(EARLIEST, LATEST))
const SEED = required(integer(0, 4_294_967_295))

/** Mulberry32: small, fast, and good enough to shuffle tests. In [0, 1). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
