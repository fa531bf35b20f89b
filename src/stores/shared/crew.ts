const SIZE_MAX = 100
/** What was seen longer ago says nothing about those who look now. */
const RECENT_MS = 1_000

/** The processes that fire at the moment, as far as they can be seen from here; so that they share what is due. */
export class Crew {
  /** How many they are. */
  size = 1
  readonly #clock: { monotonic(): number }
  #turn = 0
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(clock: { monotonic(): number }) {
    this.#clock = clock
  }

  /** The number of our last look, if it was not long ago by our own clock; the next look counts from it. */
  get lastTurn(): number | null {
    return this.#clock.monotonic() - this.#lookedAt < RECENT_MS ? this.#turn : null
  }

  /**
   * Each look at what is due takes a number, so those that were taken since our last one are the others' looks. The size
   * shrinks slowly, since most fall silent when nothing is left; and what it was is the best guess when all wake again.
   */
  noteTurn(turn: number): void {
    const last = this.lastTurn
    if (last !== null) this.size = Math.max(1, Math.min(SIZE_MAX, turn - last), Math.floor(this.size * 0.8))
    this.#turn = turn
    this.#lookedAt = this.#clock.monotonic()
  }
}
