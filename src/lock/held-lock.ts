import { checkedValue } from "../core/checked.ts"
import type { Duration } from "../core/duration.ts"
import { BelfryError } from "../core/errors.ts"
import { assertHold, LOCK_SOURCE, LOCK_TTL, type LockBackend } from "./backend.ts"
import type { LockClock } from "./clock.ts"

/** What was asked of a backend, and when: the time is counted from before the question was sent. */
export interface Holding {
  readonly name: string
  readonly token: string
  readonly fence: number
  readonly ttlMs: number
  readonly sentAt: number
}

/**
 * A lock that is held. It counts as lost as soon as its time may be up: by this process's monotonic clock, from before the
 * last successful question was sent, which is never later than the backend's own count.
 */
export class Lock implements AsyncDisposable {
  readonly name: string
  /** Higher than that of every holder before: what is written under the lock can refuse a lower one. */
  readonly fence: number
  readonly #backend: LockBackend
  readonly #clock: LockClock
  readonly #token: string
  readonly #loss = new AbortController()
  #ttlMs: number
  /** When the newest question was sent: an older one's answer says nothing about the time that is left. */
  #sentAt: number
  #heldUntil: number
  #stopWatch: () => void = () => undefined
  #releasing: Promise<boolean> | null = null

  constructor(backend: LockBackend, clock: LockClock, { name, token, fence, ttlMs, sentAt }: Holding) {
    this.name = name
    this.fence = fence
    this.#backend = backend
    this.#clock = clock
    this.#token = token
    this.#ttlMs = ttlMs
    this.#sentAt = sentAt
    this.#heldUntil = sentAt + ttlMs
    this.#watch()
  }

  /** Aborted with a `BELFRY_LOCK_LOST` when the lock is lost; not by a release. */
  get signal(): AbortSignal {
    if (this.#releasing === null) this.#loseIfOver()
    return this.#loss.signal
  }

  /** How long it is surely held; 0 once it is lost or released. */
  get expiresInMs(): number {
    if (this.signal.aborted || this.#releasing !== null) return 0
    return Math.max(0, this.#heldUntil - this.#clock.monotonic())
  }

  /** Held for this long from now: as long as when it was acquired, or extended last, unless said. Rejects if it is lost. */
  async extend(ttl?: Duration): Promise<void> {
    const ttlMs = checkedValue(ttl, LOCK_TTL, { source: LOCK_SOURCE, option: "ttl" }) ?? this.#ttlMs
    assertHold(this.name, this.#token, ttlMs)
    this.#assertHeld()
    const sentAt = this.#clock.monotonic()
    const until = sentAt + ttlMs
    this.#sentAt = sentAt
    // A shorter time counts at once: the backend may do it, and the answer be lost.
    if (until < this.#heldUntil) this.#holdUntil(until)
    const isOurs = await this.#backend.extend(this.name, this.#token, ttlMs)
    if (this.#releasing !== null) return
    if (!isOurs) this.#lose("another holder may have it, or its data is gone")
    this.#assertHeld()
    if (this.#sentAt !== sentAt) return
    this.#ttlMs = ttlMs
    this.#holdUntil(until)
  }

  /** Frees the lock at once. True if it was ours until then; a second call answers like the first. */
  release(): Promise<boolean> {
    this.#releasing ??= this.#release()
    return this.#releasing
  }

  /** The end of a block must not hide the block's own error: a lock that can't be released now ends with its time. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.release().catch(() => undefined)
  }

  async #release(): Promise<boolean> {
    this.#loseIfOver()
    this.#stopWatch()
    const isOurs = await this.#backend.release(this.name, this.#token)
    return isOurs && !this.signal.aborted
  }

  #holdUntil(until: number): void {
    this.#heldUntil = until
    this.#watch()
  }

  #watch(): void {
    this.#stopWatch()
    const restMs = this.#heldUntil - this.#clock.monotonic()
    this.#stopWatch = this.#clock.setQuietTimer(Math.max(0, restMs), () => {
      this.#loseIfOver()
      if (!this.signal.aborted) this.#watch()
    })
  }

  /** Also asked where the time matters: a busy process may be late to ring its own timers. */
  #loseIfOver(): void {
    const isOver = this.#clock.monotonic() >= this.#heldUntil
    if (isOver && !this.#loss.signal.aborted) this.#lose("its time was up before it was extended")
  }

  #lose(why: string): void {
    this.#stopWatch()
    this.#loss.abort(lockLost(this, why))
  }

  #assertHeld(): void {
    if (this.#releasing !== null) {
      throw new BelfryError(
        "BELFRY_LOCK_INVALID",
        `The lock "${this.name}" was released, and can't be extended.`,
      )
    }
    this.#loseIfOver()
    this.signal.throwIfAborted()
  }
}

export function lockLost({ name, fence }: Pick<Lock, "name" | "fence">, why: string): BelfryError {
  return new BelfryError("BELFRY_LOCK_LOST", `The lock "${name}" (fence ${fence}) was lost: ${why}.`, {
    details: { name, fence },
  })
}
