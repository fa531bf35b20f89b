import { BelfryError } from "../core/errors.ts"
import { checkedValue } from "../core/options/checked.ts"
import type { Duration } from "../core/time/duration.ts"
import { assertHold, LOCK_SOURCE, LOCK_TTL, type LockBackend } from "./backend.ts"
import type { LockClock } from "./clock.ts"

/** An acquired hold. `sentAt` is the time before the request was sent, and the hold counts from it. */
export interface Holding {
  readonly name: string
  readonly token: string
  readonly fence: number
  readonly ttlMs: number
  readonly sentAt: number
}

/**
 * A held lock. It counts as lost as soon as its time may be up: by this process's monotonic clock, from the time before the
 * last successful request was sent. That is never later than the end by the backend's clock.
 */
export class Lock implements AsyncDisposable {
  readonly name: string
  /** Higher than the fence of every earlier holder. A resource that is written under the lock can refuse lower fences. */
  readonly fence: number
  readonly #backend: LockBackend
  readonly #clock: LockClock
  readonly #token: string
  readonly #loss = new AbortController()
  #ttlMs: number
  /** When the newest request was sent. The answer to an older request doesn't change the remaining time. */
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

  /** Aborted with a `BELFRY_LOCK_LOST` error when the lock is lost. A release doesn't abort it. */
  get signal(): AbortSignal {
    if (this.#releasing === null) this.#loseIfOver()
    return this.#loss.signal
  }

  /** For how long the lock is certainly held. 0: it is lost or released. */
  get expiresInMs(): number {
    if (this.signal.aborted || this.#releasing !== null) return 0
    return Math.max(0, this.#heldUntil - this.#clock.monotonic())
  }

  /** Holds the lock for `ttl` from now. Default: the time of the last acquire or extend. Rejects if the lock is lost. */
  async extend(ttl?: Duration): Promise<void> {
    const ttlMs = checkedValue(ttl, LOCK_TTL, { source: LOCK_SOURCE, option: "ttl" }) ?? this.#ttlMs
    assertHold(this.name, this.#token, ttlMs)
    this.#assertHeld()
    const sentAt = this.#clock.monotonic()
    const until = sentAt + ttlMs
    this.#sentAt = sentAt
    // A shorter time counts at once, because the backend may set it and its answer may be lost.
    if (until < this.#heldUntil) this.#holdUntil(until)
    const isExtended = await this.#backend.extend(this.name, this.#token, ttlMs)
    if (this.#releasing !== null) return
    if (!isExtended) this.#lose("another holder may have it, or its record is gone")
    this.#assertHeld()
    if (this.#sentAt !== sentAt) return
    this.#ttlMs = ttlMs
    this.#holdUntil(until)
  }

  /** Frees the lock at once. True: the lock was held until then. A second call returns the result of the first. */
  release(): Promise<boolean> {
    this.#releasing ??= this.#release()
    return this.#releasing
  }

  /**
   * Releases the lock. Ignores errors of the release, so that they don't hide an error of the block. The hold then ends when its
   * time is up.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.release().catch(() => undefined)
  }

  async #release(): Promise<boolean> {
    this.#loseIfOver()
    this.#stopWatch()
    const wasHeld = await this.#backend.release(this.name, this.#token)
    return wasHeld && !this.signal.aborted
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

  /** Also called wherever the time matters, because the timers of a busy process may fire late. */
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
        `The lock "${this.name}" was released and can't be extended.`,
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
