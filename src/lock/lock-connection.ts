import { BelfryError } from "../core/errors.ts"
import { answerOf } from "../runtime/deadline.ts"
import type { LockClock } from "./clock.ts"

/** How a connection to a database is opened and closed. */
export interface ConnectionSteps<Opened> {
  /** Where the locks are, for messages. Without a password. */
  readonly where: string
  open(): Promise<Opened>
  close(opened: Opened): Promise<void> | void
}

/** Longer than any call takes on a healthy database. */
const DEADLINE_MS = 5_000

/**
 * Opens a connection at the first call. A failed opening may be retried; a closed connection stays closed. Each call ends by
 * its deadline.
 */
export class LockConnection<Opened> {
  readonly #steps: ConnectionSteps<Opened>
  readonly #clock: Pick<LockClock, "setTimer">
  #opening: Promise<Opened> | null = null
  #isClosed = false

  constructor(steps: ConnectionSteps<Opened>, clock: Pick<LockClock, "setTimer">) {
    this.#steps = steps
    this.#clock = clock
  }

  async open(): Promise<void> {
    await this.use(async () => undefined)
  }

  /** Runs `work` on the opened connection. */
  use<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
    return this.#byDeadline(this.#opened().then(work))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const opening = this.#opening
    this.#opening = null
    // A failed opening has nothing to close.
    const closing = opening?.then(this.#steps.close, () => undefined)
    if (closing !== undefined) await this.#byDeadline(closing)
  }

  async #opened(): Promise<Opened> {
    if (this.#isClosed) {
      throw new BelfryError("BELFRY_STORE_CLOSED", `The locks in ${this.#steps.where} were closed.`)
    }
    this.#opening ??= this.#steps.open().catch((error) => {
      this.#opening = null
      throw error
    })
    return this.#opening
  }

  #byDeadline<T>(work: Promise<T>): Promise<T> {
    return answerOf(this.#clock, work, { where: this.#steps.where, deadlineMs: DEADLINE_MS })
  }
}
