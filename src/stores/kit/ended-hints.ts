/**
 * When runs have ended the other processes are told, at once and then not again for a while: ends may come by the thousand. One that
 * another process told meanwhile stands for ours as well, so that many processes together tell no more often than one.
 */
export class EndedHints {
  readonly #waiting: Waiting
  readonly #tell: () => void
  #stopTimer: (() => void) | null = null
  /** Something ended, and nobody has told since. */
  #isOwed = false

  constructor(waiting: Waiting, tell: () => void) {
    this.#waiting = waiting
    this.#tell = tell
  }

  onEnded(): void {
    if (this.#stopTimer === null) this.#tellAndRest()
    else this.#isOwed = true
  }

  /** Also of what this process told itself. */
  onHeard(): void {
    this.#isOwed = false
    this.#rest()
  }

  /** What is owed is told, if the store still can: like every hint it may be lost. */
  close(): void {
    this.#stopTimer?.()
    this.#stopTimer = null
    if (this.#isOwed) this.#tell()
    this.#isOwed = false
  }

  #tellAndRest(): void {
    this.#isOwed = false
    this.#rest()
    this.#tell()
  }

  /** Not equally long everywhere: the first of many tells for all. */
  #rest(): void {
    this.#stopTimer?.()
    const restMs = REST_MS * (1 + this.#waiting.random())
    this.#stopTimer = this.#waiting.setTimer(restMs, () => {
      this.#stopTimer = null
      if (this.#isOwed) this.#tellAndRest()
    })
  }
}

const REST_MS = 250

interface Waiting {
  setTimer(delayMs: number, callback: () => void): () => void
  random(): number
}
