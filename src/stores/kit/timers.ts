/** The timer, the monotonic clock and the random numbers that a store uses: the system's, or a test's. */
export interface Timers {
  setTimer(delayMs: number, callback: () => void): () => void
  monotonic(): number
  /** In [0, 1). Processes that wait for the same thing try again at different times. */
  random(): number
}
