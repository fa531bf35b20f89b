import { type Stats, statSync } from "node:fs"
import { BelfryError } from "../../core/errors.ts"

/** How often a look is taken whether the file is still the one that was opened. */
const LOOK_EVERY_MS = 1_000

/**
 * The file under an open connection. One that is deleted or replaced lives on for those who have it open, and everything
 * they write is gone with them: so that is a fault, rather than found out later.
 */
export class OpenFile {
  readonly #path: string
  readonly #opened: Stats
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(path: string) {
    this.#path = path
    this.#opened = statSync(path)
  }

  assertSame(monotonic: number): void {
    if (monotonic < this.#lookedAt + LOOK_EVERY_MS) return
    if (!this.isSame()) {
      throw new BelfryError(
        "BELFRY_STORE_UNFIT",
        `${this.#path} was deleted or replaced while it was in use.`,
        { details: { path: this.#path }, remedy: "Restart this process to go on with what is there now." },
      )
    }
    this.#lookedAt = monotonic
  }

  isSame(): boolean {
    const found = statSync(this.#path, { throwIfNoEntry: false })
    return found?.ino === this.#opened.ino && found.dev === this.#opened.dev
  }
}
