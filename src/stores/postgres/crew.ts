import type { FireAnswer } from "../../store/store.ts"
import type { Waiting } from "./database.ts"

const SIZE_MAX = 100
/** What was seen longer ago says nothing about those who fire now. */
const RECENT_MS = 1_000
const STEP_BACK_MS = 10

/** The processes that fire at the moment, as far as they can be seen from here; so that they share the work. */
export class Crew {
  /** How many they are. */
  size = 1
  readonly #waiting: Waiting
  #turn = 0
  #lookedAt = Number.NEGATIVE_INFINITY
  #wasSecond = false

  constructor(waiting: Waiting) {
    this.#waiting = waiting
  }

  /** The number of our last look, if it was not long ago by our own clock; the next look counts from it. */
  get lastTurn(): number | null {
    return this.#waiting.monotonic() - this.#lookedAt < RECENT_MS ? this.#turn : null
  }

  /**
   * Each look at what is due takes a number, so those that were taken since our last one are the others' looks. The size
   * shrinks slowly, since most fall silent when nothing is left; and what it was is the best guess when all wake again.
   */
  noteTurn(turn: number): void {
    const last = this.lastTurn
    if (last !== null) this.size = Math.max(1, Math.min(SIZE_MAX, turn - last), Math.floor(this.size * 0.8))
    this.#turn = turn
    this.#lookedAt = this.#waiting.monotonic()
  }

  noteRaces(answers: readonly FireAnswer[]): void {
    const lost = answers.filter(({ outcome }) => outcome === "stale").length
    this.#wasSecond = lost * 2 > answers.length
  }

  /** Whoever mostly came second leaves the rest to the others for a moment: fifty who race for the last few only hinder. */
  async stepBack(): Promise<void> {
    if (!this.#wasSecond) return
    this.#wasSecond = false
    const delayMs = STEP_BACK_MS * (0.5 + this.#waiting.random())
    await new Promise<void>((resolve) => {
      this.#waiting.setTimer(delayMs, resolve)
    })
  }
}
