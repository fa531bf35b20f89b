import { BelfryError } from "../core/errors.ts"
import { checked, checkedValue, type OptionType } from "../core/options/checked.ts"
import { callback, duration, objectWith, required } from "../core/options/option-types.ts"
import type { Duration } from "../core/time/duration.ts"
import { SECOND } from "../core/time/instant.ts"
import { LOCK_SOURCE, LOCK_TTL, type LockBackend } from "./backend.ts"
import type { LockClock } from "./clock.ts"
import { Lock, lockLost } from "./held-lock.ts"
import { pause, pauseMs } from "./waiting.ts"

/** The options of `tryAcquire`. */
export interface TryLockOptions {
  /** How long the lock is held unless it is extended. Default 30 s. */
  readonly ttl?: Duration
}

/** The options of `acquire` and `using`. */
export interface LockOptions extends TryLockOptions {
  /** How long to wait for a lock that another holder has. Default 0: no wait. */
  readonly wait?: Duration
  /** Ends the wait when it is aborted. */
  readonly signal?: AbortSignal
}

/** The argument of the work that runs under a lock. */
export type HeldLock = Pick<Lock, "name" | "fence" | "signal">

const DEFAULT_TTL_MS = 30 * SECOND

const TRY_LOCK_OPTIONS = { ttl: LOCK_TTL } satisfies Record<keyof TryLockOptions, OptionType<unknown>>

export const LOCK_OPTIONS = {
  ...TRY_LOCK_OPTIONS,
  wait: duration(),
  signal: objectWith<AbortSignal>(["aborted", "addEventListener"], "an AbortSignal"),
} satisfies Record<keyof LockOptions, OptionType<unknown>>

const WORK = required(callback())

interface LockRequest {
  readonly name: string
  readonly token: string
  readonly ttlMs: number
  /** An answer was lost or came too late, so the backend may hold the lock for this token. */
  isInDoubt: boolean
}

/** Named locks, shared by all processes that use the same database. */
export class Locks implements AsyncDisposable {
  readonly #backend: LockBackend
  readonly #clock: LockClock

  constructor(backend: LockBackend, clock: LockClock) {
    this.#backend = backend
    this.#clock = clock
  }

  /**
   * Runs the work under the lock, and extends the lock until the work ends. Returns the result of the work if the lock was held
   * all the time. Rejects with `BELFRY_LOCK_LOST` if it wasn't, and with the work's own error if the work failed.
   */
  async using<T>(
    name: string,
    options: LockOptions,
    work: (lock: HeldLock) => T | Promise<T>,
  ): Promise<Awaited<T>> {
    checkedValue(work, WORK, { source: LOCK_SOURCE, option: "work" })
    const lock = await this.acquire(name, options)
    const stop = this.#keep(lock, checked(options, LOCK_OPTIONS, LOCK_SOURCE).ttl ?? DEFAULT_TTL_MS)
    let result: Awaited<T>
    try {
      result = await work({ name, fence: lock.fence, signal: lock.signal })
    } catch (error) {
      stop()
      await lock[Symbol.asyncDispose]()
      throw error
    }
    stop()
    // If the backend doesn't answer, the hold ends with its time. By this process's own clock it lasted until now.
    const wasHeld = await lock.release().catch(() => !lock.signal.aborted)
    lock.signal.throwIfAborted()
    if (!wasHeld) throw lockLost(lock, "it was no longer held when the work ended")
    return result
  }

  /** Returns the lock once it is acquired. Rejects with `BELFRY_LOCK_HELD` if that takes longer than `wait`. */
  async acquire(name: string, options: LockOptions = {}): Promise<Lock> {
    const { ttl: ttlMs = DEFAULT_TTL_MS, wait = 0, signal } = checked(options, LOCK_OPTIONS, LOCK_SOURCE)
    const request = { name, token: this.#clock.newId(), ttlMs, isInDoubt: false }
    try {
      return await this.#wait(request, wait, signal)
    } catch (error) {
      // The backend may hold the lock for this token although the answer never came. Nobody would release it.
      if (request.isInDoubt) this.#backend.release(name, request.token).catch(() => undefined)
      throw error
    }
  }

  /** Returns the lock if it is free now. Null: another holder has it. */
  async tryAcquire(name: string, options: TryLockOptions = {}): Promise<Lock | null> {
    const { ttl = DEFAULT_TTL_MS } = checked(options, TRY_LOCK_OPTIONS, LOCK_SOURCE)
    try {
      return await this.acquire(name, { ttl })
    } catch (error) {
      if (error instanceof BelfryError && error.code === "BELFRY_LOCK_HELD") return null
      throw error
    }
  }

  /** Closes the backend's connections. Locks stay held until their time is up. */
  close(): Promise<void> {
    return this.#backend.close()
  }

  /** The same as `close`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #wait(request: LockRequest, waitMs: number, signal: AbortSignal | undefined): Promise<Lock> {
    const endsAt = this.#clock.monotonic() + waitMs
    for (let tries = 1; ; tries++) {
      signal?.throwIfAborted()
      const answer = await this.#ask(request, endsAt)
      if (answer instanceof Lock) {
        if (signal?.aborted) await answer[Symbol.asyncDispose]()
        signal?.throwIfAborted()
        return answer
      }
      const restMs = endsAt - this.#clock.monotonic()
      if (restMs <= 0) throw lockHeld(request.name, answer.forMs, waitMs)
      const delayMs = pauseMs(answer.forMs, tries, this.#clock.random())
      await pause(this.#clock, Math.min(restMs, delayMs), signal)
    }
  }

  /** An unreachable backend is asked again until `endsAt`, with the same token, so that there is one hold at most. */
  async #ask(request: LockRequest, endsAt: number): Promise<Lock | { readonly forMs: number }> {
    const { name, token, ttlMs } = request
    const sentAt = this.#clock.monotonic()
    try {
      const answer = await this.#backend.acquire(name, token, ttlMs)
      if (answer.outcome === "held") return answer
      const { fence } = answer
      if (this.#clock.monotonic() < sentAt + ttlMs) {
        return new Lock(this.#backend, this.#clock, { name, token, fence, ttlMs, sentAt })
      }
      // The hold may have ended before its answer arrived, so it doesn't count.
      request.isInDoubt = true
      return { forMs: 0 }
    } catch (error) {
      if (!isUnavailable(error)) throw error
      request.isInDoubt = true
      if (this.#clock.monotonic() >= endsAt) throw error
      return { forMs: ttlMs }
    }
  }

  /** Extends the lock each third of the ttl, so that one request may fail. If two fail, the lock reports itself as lost. */
  #keep(lock: Lock, ttlMs: number): () => void {
    const beat = () => {
      stop = this.#clock.setQuietTimer(ttlMs / 3, beat)
      lock.extend().catch(() => undefined)
    }
    let stop = this.#clock.setQuietTimer(ttlMs / 3, beat)
    return () => stop()
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof BelfryError && error.code === "BELFRY_STORE_UNAVAILABLE"
}

function lockHeld(name: string, forMs: number, waitMs: number): BelfryError {
  const waited = waitMs === 0 ? "" : ` Waited for it for ${waitMs / 1_000} s.`
  const text = `The lock "${name}" is held by another holder, for ${Math.ceil(forMs)} ms unless extended.${waited}`
  return new BelfryError("BELFRY_LOCK_HELD", text, { details: { name, forMs } })
}
