import type { LockClock } from "./clock.ts"

const POLL_MIN_MS = 50
const POLL_MAX_MS = 250
/** However soon the lock is free, nobody asks more often than this. */
const PAUSE_MIN_MS = 5

/**
 * How long to wait before the lock is asked for again: not much longer than its holder has it, and at first more often, for
 * locks that are held for moments. Half of it is chance, so that those who wait don't come all at once.
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
