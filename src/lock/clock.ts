/** Time and chance for locks. Which of it may keep a process alive is told apart; all else is the system's clock. */
export interface LockClock {
  /** Milliseconds that never go back. */
  monotonic(): number
  /** In [0, 1). */
  random(): number
  /** An id nobody else makes. */
  newId(): string
  /** Calls back once after the delay; returns how to call it off. */
  setTimer(delayMs: number, callback: () => void): () => void
  /** The same, but a process that has nothing else to do may end meanwhile. */
  setQuietTimer(delayMs: number, callback: () => void): () => void
}
