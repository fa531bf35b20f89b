import { randomUUID } from "node:crypto"
import type { Instant } from "../core/time/instant.ts"

/**
 * The only source of time and randomness. All other code takes a clock, so that a test or a simulation can replace it.
 * The store's clock decides what is due. `now` is for stores that use the clock of this host.
 */
export interface Clock {
  now(): Instant
  /** Milliseconds that never go back, for measuring durations. */
  monotonic(): number
  /** Calls back once after the delay. Returns a function that cancels the timer. */
  setTimer(delayMs: number, callback: () => void): () => void
  /** In [0, 1). */
  random(): number
  /** A unique id. */
  newId(): string
}

/** Bound when this module is loaded: a test may later replace `performance.now` with a clock that stands still. */
const elapsedMs = performance.now.bind(performance)

/** Node keeps timer delays in 31 bits and fires longer timers at once, so longer delays are waited for in stages. */
const TIMER_MAX_MS = 2_147_483_647

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: elapsedMs,
  setTimer: (delayMs, callback) => setStagedTimer(delayMs, callback, () => undefined),
  random: () => Math.random(),
  newId: () => timeOrderedId(Date.now(), randomUUID()),
}

/**
 * A UUID of version 7: new runs are next to each other in the database's index of ids, however many runs are stored. Random ids
 * touch a page of the index each.
 */
export function timeOrderedId(now: number, randomId: string): string {
  const time = now.toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomId.slice(15)}`
}

/** Like `setTimer`, but the timer doesn't keep the process alive. */
export function setQuietTimer(delayMs: number, callback: () => void): () => void {
  return setStagedTimer(delayMs, callback, (timer) => timer.unref())
}

function setStagedTimer(
  delayMs: number,
  callback: () => void,
  onSet: (timer: NodeJS.Timeout) => void,
): () => void {
  let timer: NodeJS.Timeout
  const wait = (restMs: number) => {
    const stageMs = Math.min(restMs, TIMER_MAX_MS)
    timer = setTimeout(() => (restMs > stageMs ? wait(restMs - stageMs) : callback()), stageMs)
    onSet(timer)
  }
  wait(delayMs)
  return () => clearTimeout(timer)
}
