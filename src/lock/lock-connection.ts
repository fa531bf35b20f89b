import { BelfryError } from "../core/errors.ts"
import type { LockClock } from "./clock.ts"

/** How to reach a database, and how to leave it. */
export interface ConnectionSteps<Opened> {
  /** For messages: where the locks are, without a password. */
  readonly where: string
  open(): Promise<Opened>
  close(opened: Opened): Promise<void> | void
}

/** Longer than any call takes on a database that is well. */
const DEADLINE_MS = 5_000

/** Opens once, whoever asks first; a failed opening may be tried again, a closed door may not. All by a deadline. */
export class LockConnection<Opened> {
  readonly #ways: ConnectionSteps<Opened>
  readonly #clock: Pick<LockClock, "setTimer">
  #opening: Promise<Opened> | null = null
  #isClosed = false

  constructor(ways: ConnectionSteps<Opened>, clock: Pick<LockClock, "setTimer">) {
    this.#ways = ways
    this.#clock = clock
  }

  async open(): Promise<void> {
    await this.use(async () => undefined)
  }

  /** The work, on what is opened. */
  use<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
    return this.#byDeadline(this.#opened().then(work))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const opening = this.#opening
    this.#opening = null
    // What couldn't be opened has nothing to close.
    const closing = opening?.then(this.#ways.close, () => undefined)
    if (closing !== undefined) await this.#byDeadline(closing)
  }

  async #opened(): Promise<Opened> {
    if (this.#isClosed) {
      throw new BelfryError("BELFRY_STORE_CLOSED", `The locks in ${this.#ways.where} were closed.`)
    }
    this.#opening ??= this.#ways.open().catch((error) => {
      this.#opening = null
      throw error
    })
    return this.#opening
  }

  #byDeadline<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = this.#clock.setTimer(DEADLINE_MS, () => {
        const text = `${this.#ways.where} did not answer within ${DEADLINE_MS / 1_000} s.`
        reject(new BelfryError("BELFRY_STORE_UNAVAILABLE", text))
      })
      work.then(resolve, reject).finally(stop)
    })
  }
}
