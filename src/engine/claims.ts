import type { Clock } from "../runtime/clock.ts"
import type { Claimed, Store } from "../store/store.ts"
import type { Events } from "./events.ts"
import type { LostAnswers } from "./lost-answers.ts"

/**
 * The most runs that one claim asks for. If slots are left, the store makes the next claim while these runs begin. On PostgreSQL
 * each claim waits for the disk: with 2,000 slots and tasks that do nothing, a run took 29 µs in claims of 1,000, 31 of 500 and
 * 34 of 250. A store may give fewer than asked: Redis gives 250.
 */
const RUNS_PER_CLAIM_MAX = 1_000

/** An answer of the store, with the times by the monotonic clock. */
export interface Claim extends Claimed {
  readonly askedAt: number
  readonly readAt: number
  /** More runs may be due than were given. */
  readonly isMoreDue: boolean
}

/** Asks the store for due runs of the worker's tasks. */
export class Claims {
  readonly #context: ClaimsContext
  readonly #lostAnswers: LostAnswers
  /** By the monotonic clock. No claim is made before this time. */
  #nextAt = 0

  constructor(context: ClaimsContext, lostAnswers: LostAnswers) {
    this.#context = context
    this.#lostAnswers = lostAnswers
  }

  /** How long the next claim must wait. Not positive: it may be made now. */
  get waitMs(): number {
    return this.#nextAt - this.#context.clock.monotonic()
  }

  async claim(freeSlots: number): Promise<Claim> {
    const { store, clock, id, nextDelayMs, events, leases } = this.#context
    const limit = Math.min(freeSlots, RUNS_PER_CLAIM_MAX)
    const askedAt = clock.monotonic()
    this.#nextAt = askedAt + nextDelayMs
    let claimed: Claimed
    try {
      claimed = await store.claim({ workerId: id, tasks: leases, limit })
    } catch (error) {
      this.#lostAnswers.suspect(Math.max(...leases.map(({ leaseMs }) => leaseMs)))
      throw error
    }
    const readAt = clock.monotonic()
    const count = claimed.runs.length
    if (count > 0) events.claimed({ what: "runs", count, lostRaces: 0, tookMs: readAt - askedAt })
    const isMoreDue = count === limit || claimed.nextClaimableAt === claimed.now
    return { ...claimed, askedAt, readAt, isMoreDue }
  }
}

export interface ClaimsContext {
  readonly id: string
  readonly store: Store
  readonly clock: Clock
  readonly events: Events
  readonly leases: readonly { readonly name: string; readonly leaseMs: number }[]
  /** Shortest time between two claims. */
  readonly nextDelayMs: number
}
