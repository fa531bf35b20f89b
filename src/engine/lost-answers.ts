import { type Run, release } from "../core/run/run.ts"
import type { RunSummary } from "../core/run/run-summary.ts"
import { SECOND } from "../core/time/instant.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { RunPage, Store } from "../store/store.ts"

const PAGE = 1_000
/** Pages of running runs that one search reads. The next search continues from there. */
const PAGES = 10
/** At most this many begun attempts are remembered; the oldest are dropped. */
const BEGUN_MAX = 10_000

/**
 * Gives back runs that this worker holds in the store but doesn't perform: the answer of their claim was lost, or they couldn't
 * be given back earlier. Otherwise they would wait for their lease to end, and the attempt could count as lost.
 */
export class LostAnswers {
  readonly #context: { store: Store; clock: Clock; logger: Logger; id: string }
  /** By the monotonic clock. The server may perform a claim long after its worker stopped waiting for the answer. */
  #suspectedUntil = Number.NEGATIVE_INFINITY
  #leaseMs = 0
  /** Where the next search continues. Null: at the newest run. */
  #before: RunPage["after"] = null
  readonly #begun = new Set<string>()

  constructor(context: { store: Store; clock: Clock; logger: Logger; id: string }) {
    this.#context = context
  }

  /** Called when an answer was lost or came too late, or a run couldn't be given back. */
  suspect(leaseMs: number): void {
    this.#leaseMs = leaseMs
    this.#suspectedUntil = Math.max(this.#suspectedUntil, this.#context.clock.monotonic() + leaseMs)
  }

  /**
   * This attempt began, and its end couldn't be stored. It must not be given back as an attempt that never began: it waits for
   * the end of its lease and counts as lost.
   */
  markBegun(run: Run): void {
    this.#begun.add(attemptOf(run))
    const [oldest] = this.#begun
    if (this.#begun.size > BEGUN_MAX) this.#begun.delete(oldest!)
  }

  /** Delay until the next search. Infinity: there is nothing to search for. */
  get searchAgainInMs(): number {
    if (!this.#isSuspected) return Number.POSITIVE_INFINITY
    return this.#before === null ? 5 * SECOND : SECOND
  }

  get #isSuspected(): boolean {
    return this.#context.clock.monotonic() < this.#suspectedUntil
  }

  /** Must not be called while a claim is under way, because its runs aren't known yet either. */
  async giveBack(isKnown: (run: RunSummary) => boolean): Promise<void> {
    if (!this.#isSuspected) return
    try {
      await this.#giveBack(isKnown)
    } catch (error) {
      // The store is unreachable: search again when it answers, before the next claim.
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
      "Gave back runs that this worker held but had not begun",
    )
  }
}

function attemptOf({ id, attempt }: Pick<Run, "id" | "attempt">): string {
  return `${id} ${attempt}`
}
