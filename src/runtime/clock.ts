import { randomUUID } from "node:crypto"
import type { Instant } from "../core/instant.ts"

/**
 * Time and chance, the only way to them: everything else takes a clock, so that a test or a simulation can be one.
 * What is due is never asked here but of the store; `now` is for stores that live on this host's clock.
 */
export interface Clock {
  now(): Instant
  /** Milliseconds that never go back, for measuring durations. */
  monotonic(): number
  /** Calls back once after the delay; returns how to call it off. */
  setTimer(delayMs: number, callback: () => void): () => void
  /** In [0, 1). */
  random(): number
  /** An id nobody else makes. */
  newId(): string
}

/** As it is when this is loaded: a test may put a clock in its place that stands still. */
const elapsedMs = performance.now.bind(performance)

/** A longer timer would fire at once (Node keeps 31 bits), so it is waited for in stages. */
const TIMER_MAX_MS = 2_147_483_647

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: elapsedMs,
  setTimer: (delayMs, callback) => setStagedTimer(delayMs, callback, () => undefined),
  random: () => Math.random(),
  newId: () => randomUUID(),
}

/** As `setTimer`, but a process that has nothing else to do may end meanwhile. */
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
