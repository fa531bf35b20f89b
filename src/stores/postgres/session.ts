import { BelfryError } from "../../core/errors.ts"
import type { Hint } from "../../store/store.ts"
import { HintListeners } from "../kit/hint-listeners.ts"
import { SHARED_HINTS } from "../kit/shared-hints.ts"
import type { Timers } from "../kit/timers.ts"
import type { Pool, PoolClient, Queryable, SingleClient } from "./client.ts"
import { type Database, isAnswered, type Runner } from "./database.ts"
import type { Row } from "./rows.ts"

const RECONNECT_MIN_MS = 200
const RECONNECT_MAX_MS = 5_000

/**
 * A reserved connection for heartbeats and notifications. Heartbeats do not use the pool, so tasks that exhaust the pool cannot
 * delay them. If the connection breaks it is opened again. Hints may have been missed in between, so listeners then get every
 * hint.
 */
export class Session {
  readonly #pool: Pool
  readonly #database: Database
  readonly #timers: Timers
  readonly #channel: string
  readonly #listeners = new HintListeners()
  /** Statements run one at a time; the next waits for this. */
  #lastStatement: Promise<unknown> = Promise.resolve()
  #connecting: Promise<Queryable> | null = null
  #end: (() => void) | null = null
  /** Whether a statement is running. It must then be cancelled before the connection is closed. */
  #isQuerying = false
  #stopTimer: (() => void) | null = null
  #delayMs = RECONNECT_MIN_MS
  #isClosed = false

  /** Called when this or another process notified that runs have ended. */
  onEnded: () => void = () => undefined

  constructor(pool: Pool, database: Database, timers: Timers, channel: string) {
    this.#pool = pool
    this.#database = database
    this.#timers = timers
    this.#channel = channel
  }

  runner(): Runner {
    return {
      rows: (text, values) => {
        const endsAt = this.#database.endsAt()
        const done = this.#lastStatement.then(() => this.#rows(text, values, endsAt))
        this.#lastStatement = done.catch(() => undefined)
        return done
      },
    }
  }

  async #rows(text: string, values: readonly unknown[] | undefined, endsAt: number): Promise<readonly Row[]> {
    const client = await this.#database.withDeadline(this.#connected(), endsAt)
    this.#isQuerying = true
    try {
      return await this.#database.on(client, endsAt).rows(text, values)
    } catch (error) {
      // The next heartbeat uses a new connection.
      if (!isAnswered(error)) {
        this.#drop()
        this.#reconnectLater()
      }
      throw error
    } finally {
      this.#isQuerying = false
    }
  }

  /** Never fails: if there is no connection now, it is tried again in the background. */
  listen(onHint: (hint: Hint) => void): () => void {
    const stop = this.#listeners.add(onHint)
    void this.#connected().catch(() => this.#reconnectLater())
    return stop
  }

  close(): void {
    this.#isClosed = true
    this.#stopTimer?.()
    this.#listeners.clear()
    this.#drop()
  }

  notify(hint: Hint): void {
    this.#listeners.notify(hint)
  }

  #connected(): Promise<Queryable> {
    if (this.#connecting !== null) return this.#connecting
    // A call that failed during `close` must not open a connection that nothing would close.
    if (this.#isClosed) return Promise.reject(new BelfryError("BELFRY_STORE_CLOSED", "The store was closed."))
    const connecting = this.#connect()
    this.#connecting = connecting
    connecting.catch(() => {
      // A connection that timed out may still arrive. It is dropped, or it would stay open beside the next one.
      if (this.#connecting === connecting) this.#drop()
    })
    return connecting
  }

  async #connect(): Promise<Queryable> {
    const endsAt = this.#database.endsAt()
    const client = await this.#ownClient(endsAt)
    // LISTEN never waits for a lock, so it cannot outlive its connection and need not be cancelled.
    await this.#database.withDeadline(client.query({ text: `listen "${this.#channel}"` }), endsAt)
    this.#delayMs = RECONNECT_MIN_MS
    for (const hint of SHARED_HINTS) this.notify(hint)
    return client
  }

  /** A new client with the pool's class and options. If the pool does not expose them, a connection of the pool that is kept. */
  async #ownClient(endsAt: number): Promise<Queryable> {
    const { Client, options } = this.#pool
    if (Client === undefined || options === undefined) {
      const client = (await this.#database.borrowed(endsAt)) as PoolClient & SingleClient
      this.#watch(client, () => client.release(true))
      return client
    }
    const client = new Client(options as never)
    this.#watch(client, () => void client.end().catch(() => undefined))
    await this.#database.withDeadline(client.connect(), endsAt)
    return client
  }

  #watch(client: SingleClient, close: () => void): void {
    const end = () => {
      if (this.#isQuerying) void this.#database.abandon(client, close)
      else close()
    }
    this.#end = end
    const onLost = () => {
      if (this.#end !== end) return
      this.#drop()
      this.#reconnectLater()
    }
    client.on("error", onLost)
    client.on("end", onLost)
    client.on("notification", ({ channel, payload }) => {
      if (channel !== this.#channel || !(SHARED_HINTS as readonly unknown[]).includes(payload)) return
      if (payload === "ended") this.onEnded()
      this.notify(payload as Hint)
    })
  }

  #drop(): void {
    const end = this.#end
    this.#end = null
    this.#connecting = null
    end?.()
  }

  #reconnectLater(): void {
    if (this.#isClosed || this.#listeners.size === 0 || this.#stopTimer !== null) return
    const delayMs = this.#delayMs * (0.5 + this.#timers.random())
    this.#delayMs = Math.min(2 * this.#delayMs, RECONNECT_MAX_MS)
    this.#stopTimer = this.#timers.setTimer(delayMs, () => {
      this.#stopTimer = null
      if (!this.#isClosed) void this.#connected().catch(() => this.#reconnectLater())
    })
  }
}
