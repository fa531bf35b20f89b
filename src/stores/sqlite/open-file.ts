import { type Stats, statSync } from "node:fs"
import { BelfryError } from "../../core/errors.ts"

/** How often the path is checked: it must still be the file that was opened. */
const CHECK_EVERY_MS = 1_000

/**
 * The file of an open connection. After it was deleted or replaced, the connection goes on writing to the old file, and those
 * writes are lost when the process ends. So the next call throws.
 */
export class OpenFile {
  readonly #path: string
  readonly #opened: Stats
  #checkedAt = Number.NEGATIVE_INFINITY

  constructor(path: string) {
    this.#path = path
    this.#opened = statSync(path)
  }

  assertSame(monotonic: number): void {
    if (monotonic < this.#checkedAt + CHECK_EVERY_MS) return
    if (!this.isSame()) {
      throw new BelfryError(
        "BELFRY_STORE_UNFIT",
        `${this.#path} was deleted or replaced while it was in use.`,
        { details: { path: this.#path }, remedy: "Restart this process to use the file that is there now." },
      )
    }
    this.#checkedAt = monotonic
  }

  isSame(): boolean {
    const found = statSync(this.#path, { throwIfNoEntry: false })
    return found?.ino === this.#opened.ino && found.dev === this.#opened.dev
  }
}
