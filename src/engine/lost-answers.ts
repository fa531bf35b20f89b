import { SECOND } from "../core/instant.ts"
import { type Run, release } from "../core/run.ts"
import type { RunSummary } from "../core/run-summary.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { RunPage, Store } from "../store/store.ts"

const PAGE = 1_000
/** How many pages of running runs one look reads. The next look goes on from there. */
const PAGES = 10
/** Of more attempts than this it is forgotten that they began. */
const BEGUN_MAX = 10_000

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
  /** Where the next look goes on; null: at the newest run. */
  #before: RunPage["after"] = null
  readonly #begun = new Set<string>()

  constructor(context: { store: Store; clock: Clock; logger: Logger; id: string }) {
    this.#context = context
  }

  /** An answer was lost, or came too late to be used, or a run couldn't be given back. */
  suspect(leaseMs: number): void {
    this.#leaseMs = leaseMs
    this.#suspectedUntil = Math.max(this.#suspectedUntil, this.#context.clock.monotonic() + leaseMs)
  }

  /**
   * This attempt began, and its end couldn't be stored: it must not be given back as if it hadn't. It waits for the end of its
   * lease, and counts as lost.
   */
  leave(run: Run): void {
    this.#begun.add(attemptOf(run))
    const [oldest] = this.#begun
    if (this.#begun.size > BEGUN_MAX) this.#begun.delete(oldest!)
  }

  /** How soon to look again: never, if there is nothing to look for. */
  get lookAgainInMs(): number {
    if (!this.#isSuspected) return Number.POSITIVE_INFINITY
    return this.#before === null ? 5 * SECOND : SECOND
  }

  get #isSuspected(): boolean {
    return this.#context.clock.monotonic() < this.#suspectedUntil
  }

  /** Only while no claim is under way: its runs would not be known yet either. */
  async giveBack(isKnown: (run: RunSummary) => boolean): Promise<void> {
    if (!this.#isSuspected) return
    try {
      await this.#giveBack(isKnown)
    } catch (error) {
      // The store is away: look again as soon as it answers, before the next claim.
      this.suspect(this.#leaseMs)
      throw error
    }
  }

  async #giveBack(isKnown: (run: RunSummary) => boolean): Promise<void> {
    const { store, id } = this.#context
    for (let pages = 0; pages < PAGES; pages++) {
      const page = { orderBy: "createdAt", after: this.#before, limit: PAGE } as const
      const held = await store.findRuns({ workerId: id }, page)
      await this.#release(held.filter((run) => !isKnown(run) && !this.#begun.has(attemptOf(run))))
      const last = held[PAGE - 1]
      this.#before = last === undefined ? null : { at: last.createdAt, id: last.id }
      if (last === undefined) return
    }
  }

  async #release(unbegun: readonly RunSummary[]): Promise<void> {
    if (unbegun.length === 0) return
    const { store, logger } = this.#context
    await store.transition(unbegun.map((run) => release(run, "Its worker did not begin it")))
    logger.info(
      { component: "worker", runs: unbegun.length },
      "Runs that this worker held and had not begun were given back",
    )
  }
}

function attemptOf({ id, attempt }: Pick<Run, "id" | "attempt">): string {
  return `${id} ${attempt}`
}
