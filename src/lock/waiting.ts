import type { LockClock } from "./clock.ts"

const POLL_MIN_MS = 50
const POLL_MAX_MS = 250
/** The shortest pause between two requests, however soon the lock is free. */
const PAUSE_MIN_MS = 5

/**
 * The pause before the next request: not much longer than the current hold, and short at first, for locks that are held briefly.
 * Between half and one and a half of that, at random, so that waiting callers don't all ask at once.
 */
export function pauseMs(forMs: number, tries: number, chance: number): number {
  const pollMs = Math.min(POLL_MIN_MS * 2 ** Math.min(tries - 1, 10), POLL_MAX_MS)
  return Math.max(PAUSE_MIN_MS, Math.min(forMs, pollMs) * (0.5 + chance))
}

/** Rejects with the signal's reason as soon as it is aborted. */
export function pause(clock: LockClock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = clock.setTimer(delayMs, () => {
      signal?.removeEventListener("abort", onAbort)
      resolve()
    })
    const onAbort = () => {
      stop()
      reject(signal?.reason)
    }
    signal?.addEventListener("abort", onAbort, { once: true })
  })
}
