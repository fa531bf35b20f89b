import { checked, checkedValue, type Kind } from "../core/checked.ts"
import type { Duration } from "../core/duration.ts"
import { BelfryError } from "../core/errors.ts"
import { SECOND } from "../core/instant.ts"
import { callback, duration, objectWith, required } from "../core/kinds.ts"
import { LOCK_SOURCE, LOCK_TTL, type LockBackend } from "./backend.ts"
import type { LockClock } from "./clock.ts"
import { Lock, lockLost } from "./held-lock.ts"
import { pause, pauseMs } from "./waiting.ts"

export interface TryLockOptions {
  /** How long the lock is held unless it is extended; 30 s unless said. */
  readonly ttl?: Duration
}

export interface LockOptions extends TryLockOptions {
  /** How long to wait for it while somebody else holds it; not at all unless said. */
  readonly wait?: Duration
  /** Ends the waiting. */
  readonly signal?: AbortSignal
}

/** What work under a lock is given. */
export type HeldLock = Pick<Lock, "name" | "fence" | "signal">

const DEFAULT_TTL_MS = 30 * SECOND

const TRY_LOCK_OPTIONS = { ttl: LOCK_TTL } satisfies Record<keyof TryLockOptions, Kind<unknown>>

export const LOCK_OPTIONS = {
  ...TRY_LOCK_OPTIONS,
  wait: duration(),
  signal: objectWith<AbortSignal>(["aborted", "addEventListener"], "an AbortSignal"),
} satisfies Record<keyof LockOptions, Kind<unknown>>

const WORK = required(callback())

interface Wanted {
  readonly name: string
  readonly token: string
  readonly ttlMs: number
  isInDoubt: boolean
}

/** Locks by name, for all who use the same database. */
export class Locks implements AsyncDisposable {
  readonly #backend: LockBackend
  readonly #clock: LockClock

  constructor(backend: LockBackend, clock: LockClock) {
    this.#backend = backend
    this.#clock = clock
  }

  /**
   * Does the work under the lock, which is extended while it lasts. Answers what the work returned, if the lock was ours
   * until then; rejects with `BELFRY_LOCK_LOST` if it wasn't, and with the work's own error if it failed.
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
    // One that can't be asked ends with its time, and until now it was ours by our own count.
    const wasOurs = await lock.release().catch(() => !lock.signal.aborted)
    lock.signal.throwIfAborted()
    if (!wasOurs) throw lockLost(lock, "it was no longer ours when the work ended")
    return result
  }

  /** The lock, once it is ours; rejects with `BELFRY_LOCK_HELD` if that is not within `wait`. */
  async acquire(name: string, options: LockOptions = {}): Promise<Lock> {
    const { ttl: ttlMs = DEFAULT_TTL_MS, wait = 0, signal } = checked(options, LOCK_OPTIONS, LOCK_SOURCE)
    const wanted = { name, token: this.#clock.newId(), ttlMs, isInDoubt: false }
    try {
      return await this.#wait(wanted, wait, signal)
    } catch (error) {
      // It may be ours, by an answer that never came: then it would be held for nobody.
      if (wanted.isInDoubt) this.#backend.release(name, wanted.token).catch(() => undefined)
      throw error
    }
  }

  /** The lock if it is free now; null if somebody else holds it. */
  async tryAcquire(name: string, options: TryLockOptions = {}): Promise<Lock | null> {
    const { ttl = DEFAULT_TTL_MS } = checked(options, TRY_LOCK_OPTIONS, LOCK_SOURCE)
    try {
      return await this.acquire(name, { ttl })
    } catch (error) {
      if (error instanceof BelfryError && error.code === "BELFRY_LOCK_HELD") return null
      throw error
    }
  }

  /** Ends the backend's connections. What is held stays so until its time is up. */
  close(): Promise<void> {
    return this.#backend.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #wait(wanted: Wanted, waitMs: number, signal: AbortSignal | undefined): Promise<Lock> {
    const endsAt = this.#clock.monotonic() + waitMs
    for (let tries = 1; ; tries++) {
      signal?.throwIfAborted()
      const answer = await this.#ask(wanted, endsAt)
      if (answer instanceof Lock) {
        if (signal?.aborted) await answer[Symbol.asyncDispose]()
        signal?.throwIfAborted()
        return answer
      }
      const restMs = endsAt - this.#clock.monotonic()
      if (restMs <= 0) throw lockHeld(wanted.name, answer.forMs, waitMs)
      const delayMs = pauseMs(answer.forMs, tries, this.#clock.random())
      await pause(this.#clock, Math.min(restMs, delayMs), signal)
    }
  }

  /** While there is time, a backend that is away is asked again: with the same token, so that it is one hold at most. */
  async #ask(wanted: Wanted, endsAt: number): Promise<Lock | { readonly forMs: number }> {
    const { name, token, ttlMs } = wanted
    const sentAt = this.#clock.monotonic()
    try {
      const answer = await this.#backend.acquire(name, token, ttlMs)
      if (answer.outcome === "held") return answer
      const { fence } = answer
      if (this.#clock.monotonic() < sentAt + ttlMs) {
        return new Lock(this.#backend, this.#clock, { name, token, fence, ttlMs, sentAt })
      }
      // A hold that may have ended on its way here is none.
      wanted.isInDoubt = true
      return { forMs: 0 }
    } catch (error) {
      if (!isUnavailable(error)) throw error
      wanted.isInDoubt = true
      if (this.#clock.monotonic() >= endsAt) throw error
      return { forMs: ttlMs }
    }
  }

  /** Extends each third of the ttl, so that one question may fail; when two do, the lock itself says that it is lost. */
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
  const waited = waitMs === 0 ? "" : ` It was waited for ${waitMs / 1_000} s.`
  const text = `The lock "${name}" is held by somebody else, for ${Math.ceil(forMs)} ms unless extended.${waited}`
  return new BelfryError("BELFRY_LOCK_HELD", text, { details: { name, forMs } })
}
