import type { FireAnswer } from "../../store/store.ts"
import type { Waiting } from "./database.ts"

const STEP_BACK_MS = 10

/** Whoever mostly came second leaves the rest to the others for a moment: fifty who race for the last few only hinder. */
export class SteppingBack {
  readonly #waiting: Pick<Waiting, "setTimer" | "random">
  #wasSecond = false

  constructor(waiting: Pick<Waiting, "setTimer" | "random">) {
    this.#waiting = waiting
  }

  noteRaces(answers: readonly FireAnswer[]): void {
    const lost = answers.filter(({ outcome }) => outcome === "stale").length
    this.#wasSecond = lost * 2 > answers.length
  }

  /** Once for each time. */
  async stepBack(): Promise<void> {
    if (!this.#wasSecond) return
    this.#wasSecond = false
    const delayMs = STEP_BACK_MS * (0.5 + this.#waiting.random())
    await new Promise<void>((resolve) => {
      this.#waiting.setTimer(delayMs, resolve)
    })
  }
}
