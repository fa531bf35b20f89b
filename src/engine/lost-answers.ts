import { SECOND } from "../core/instant.ts"
import { type Run, release } from "../core/run.ts"
import type { Store } from "../store/store.ts"
import type { Clock } from "./clock.ts"
import type { Logger } from "./logger.ts"

/** More than this many running runs are looked through at the next look. */
const PAGE = 1_000

/**
 * A claim whose answer was lost may have given this worker runs that it doesn't know of, and so does a run that it couldn't give
 * back. Left alone, they would wait for their lease to end, and the attempt could count as lost. The worker looks for them and
 * gives them back at once.
 */
export class LostAnswers {
  readonly #context: { store: Store; clock: Clock; logger: Logger; id: string }
  /** By the monotonic clock. The server may come to a claim long after its worker stopped waiting for the answer. */
  #suspectedUntil = Number.NEGATIVE_INFINITY
  #leaseMs = 0

  constructor(context: { store: Store; clock: Clock; logger: Logger; id: string }) {
    this.#context = context
  }

  /** An answer was lost, or came too late to be used, or a run couldn't be given back. */
  suspect(leaseMs: number): void {
    this.#leaseMs = leaseMs
    this.#suspectedUntil = Math.max(this.#suspectedUntil, this.#context.clock.monotonic() + leaseMs)
  }

  /** How soon to look again: never, if there is nothing to look for. */
  get lookAgainInMs(): number {
    return this.#isSuspected ? 5 * SECOND : Number.POSITIVE_INFINITY
  }

  get #isSuspected(): boolean {
    return this.#context.clock.monotonic() < this.#suspectedUntil
  }

  /** Only while no claim is under way: its runs would not be known yet either. */
  async giveBack(isKnown: (run: Run) => boolean): Promise<void> {
    if (!this.#isSuspected) return
    try {
      await this.#giveBack(isKnown)
    } catch (error) {
      // The store is away: look again as soon as it answers, before the next claim.
      this.suspect(this.#leaseMs)
      throw error
    }
  }

  async #giveBack(isKnown: (run: Run) => boolean): Promise<void> {
    const { store, id, logger } = this.#context
    const page = { orderBy: "createdAt", before: null, limit: PAGE } as const
    const running = await store.findRuns({ states: ["running"] }, page)
    const unknown = running.filter((run) => run.workerId === id && !isKnown(run))
    if (unknown.length === 0) return
    await store.transition(unknown.map((run) => release(run, "Its worker did not begin it")))
    logger.info(
      { component: "worker", runs: unknown.length },
      "Runs that this worker held and had not begun were given back",
    )
  }
}
