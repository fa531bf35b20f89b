import type { Timers } from "./timers.ts"
/**
 * Sends the `ended` hint to other processes when runs have ended: at once, then not again for 250 to 500 ms, because
 * thousands of runs may end in a second. A hint from another process replaces this process's own, so many processes together
 * send no more hints than one.
 */
export class EndedHints {
  readonly #timers: Pick<Timers, "setTimer" | "random">
  readonly #send: () => void
  #stopTimer: (() => void) | null = null
  /** Runs have ended since the last hint of any process. */
  #isPending = false

  constructor(timers: Pick<Timers, "setTimer" | "random">, send: () => void) {
    this.#timers = timers
    this.#send = send
  }

  onEnded(): void {
    if (this.#stopTimer === null) this.#sendAndPause()
    else this.#isPending = true
  }

  /** Called for every `ended` hint that arrives, also for this process's own. */
  onReceived(): void {
    this.#isPending = false
    this.#pause()
  }

  /** Sends a pending hint, if the store still can. Like every hint it may be lost. */
  close(): void {
    this.#stopTimer?.()
    this.#stopTimer = null
    if (this.#isPending) this.#send()
    this.#isPending = false
  }

  #sendAndPause(): void {
    this.#isPending = false
    this.#pause()
    this.#send()
  }

  /** The pause is random, so that one of many processes sends first, for all of them. */
  #pause(): void {
    this.#stopTimer?.()
    const pauseMs = PAUSE_MS * (1 + this.#timers.random())
    this.#stopTimer = this.#timers.setTimer(pauseMs, () => {
      this.#stopTimer = null
      if (this.#isPending) this.#sendAndPause()
    })
  }
}

const PAUSE_MS = 250
