/** Time and randomness for locks. Like `Clock`, but with a second kind of timer that doesn't keep the process alive. */
export interface LockClock {
  /** Milliseconds that never go back. */
  monotonic(): number
  /** In [0, 1). */
  random(): number
  /** A unique id. */
  newId(): string
  /** Calls back once after the delay. Returns a function that cancels the timer. */
  setTimer(delayMs: number, callback: () => void): () => void
  /** Like `setTimer`, but the timer doesn't keep the process alive. */
  setQuietTimer(delayMs: number, callback: () => void): () => void
}
