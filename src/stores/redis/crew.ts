import type { Waiting } from "./client.ts"

const SIZE_MAX = 100
/** What was seen longer ago says nothing about those who look now. */
const RECENT_MS = 1_000

/** Those who look at what is due at the moment, as far as they can be seen from here; so that they share it. */
export class Crew {
  /** How many they are. */
  size = 1
  readonly #waiting: Waiting
  #turn = 0
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(waiting: Waiting) {
    this.#waiting = waiting
  }

  /**
   * Each look takes a number, so those that were taken since our last one are the others' looks. The size shrinks slowly, since
   * most fall silent when nothing is left; and what it was is the best guess when all wake again.
   */
  noteTurn(turn: number): void {
    const now = this.#waiting.monotonic()
    if (now - this.#lookedAt < RECENT_MS) {
      this.size = Math.max(1, Math.min(SIZE_MAX, turn - this.#turn), Math.floor(this.size * 0.8))
    }
    this.#turn = turn
    this.#lookedAt = now
  }
}
