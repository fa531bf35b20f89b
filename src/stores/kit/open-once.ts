import { BelfryError } from "../../core/errors.ts"

/** Opens at the first call of `reach`. Concurrent callers share the opening. Reopens after a failure, never after `close`. */
export class OpenOnce<Opened> {
  readonly #where: string
  readonly #open: () => Promise<Opened>
  #opening: Promise<Opened> | null = null
  #opened: Opened | null = null
  #isClosed = false

  constructor(where: string, open: () => Promise<Opened>) {
    this.#where = where
    this.#open = open
  }

  reach(): Promise<Opened> {
    if (this.#isClosed) {
      const text = `The store on ${this.#where} was closed.`
      return Promise.reject(new BelfryError("BELFRY_STORE_CLOSED", text))
    }
    this.#opening ??= this.#begin()
    return this.#opening
  }

  /** Null before the opening has succeeded and after the closing. */
  get opened(): Opened | null {
    return this.#opened
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Returns the opened object for the caller to close. Null: nothing was opened, or an earlier call has it. */
  async close(): Promise<Opened | null> {
    this.#isClosed = true
    const opening = this.#opening
    this.#opening = null
    const opened = (await opening?.catch(() => null)) ?? null
    this.#opened = null
    return opened
  }

  async #begin(): Promise<Opened> {
    try {
      const opened = await this.#open()
      this.#opened = opened
      return opened
    } catch (error) {
      this.#opening = null
      throw error
    }
  }
}
