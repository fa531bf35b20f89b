import { BelfryError } from "../../core/errors.ts"

/** Opens once, whoever asks first, however many ask at once. A failed opening may be tried again; what was closed stays closed. */
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

  /** What is open now; null before and after. */
  get opened(): Opened | null {
    return this.#opened
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Answers what there is to close; null if nothing was opened, or somebody closes it already. */
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
