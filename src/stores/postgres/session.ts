import type { Hint } from "../../store/store.ts"
import { SHARED_HINTS } from "../kit/shared-hints.ts"
import type { Pool, PoolClient, Queryable, SingleClient } from "./client.ts"
import { type Database, isAnswered, type Runner, type Waiting } from "./database.ts"
import type { Row } from "./rows.ts"

const RECONNECT_MIN_MS = 200
const RECONNECT_MAX_MS = 5_000

/**
 * A connection that is reserved: heartbeats go over it, so that tasks that use up the pool can't keep a worker from saying
 * that it lives; and notifications come over it. When it breaks it is made anew, and since a hint may have been missed
 * meanwhile, everything is hinted at then.
 */
export class Session {
  readonly #pool: Pool
  readonly #database: Database
  readonly #waiting: Waiting
  readonly #channel: string
  readonly #listeners = new Set<{ onHint(hint: Hint): void }>()
  /** One statement at a time: what comes meanwhile waits here. */
  #busy: Promise<unknown> = Promise.resolve()
  #connecting: Promise<Queryable> | null = null
  #end: (() => void) | null = null
  /** Whether a statement is under way: then it has to be ended before its connection. */
  #isAsking = false
  #stopTimer: (() => void) | null = null
  #delayMs = RECONNECT_MIN_MS
  #isClosed = false

  /** Somebody told that runs have ended, this process or another. */
  onEnded: () => void = () => undefined

  constructor(pool: Pool, database: Database, waiting: Waiting, channel: string) {
    this.#pool = pool
    this.#database = database
    this.#waiting = waiting
    this.#channel = channel
  }

  runner(): Runner {
    return {
      rows: (text, values) => {
        const endsAt = this.#database.endsAt()
        const done = this.#busy.then(() => this.#rows(text, values, endsAt))
        this.#busy = done.catch(() => undefined)
        return done
      },
    }
  }

  async #rows(text: string, values: readonly unknown[] | undefined, endsAt: number): Promise<readonly Row[]> {
    const client = await this.#database.by(this.#connected(), endsAt)
    this.#isAsking = true
    try {
      return await this.#database.on(client, endsAt).rows(text, values)
    } catch (error) {
      // The next beat begins with another.
      if (!isAnswered(error)) {
        this.#drop()
        this.#reconnectLater()
      }
      throw error
    } finally {
      this.#isAsking = false
    }
  }

  /** Silent is allowed, so a connection that can't be had now is tried again in the background. */
  listen(onHint: (hint: Hint) => void): () => void {
    // The same callback twice is two listeners.
    const listener = { onHint }
    this.#listeners.add(listener)
    void this.#connected().catch(() => this.#reconnectLater())
    return () => {
      this.#listeners.delete(listener)
    }
  }

  close(): void {
    this.#isClosed = true
    this.#stopTimer?.()
    this.#listeners.clear()
    this.#drop()
  }

  tell(hint: Hint): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener.onHint(hint)
      } catch {
        // A listener's fault is its own: neither the write it follows nor the other listeners are harmed.
      }
    }
  }

  #connected(): Promise<Queryable> {
    if (this.#connecting !== null) return this.#connecting
    const connecting = this.#connect()
    this.#connecting = connecting
    connecting.catch(() => {
      // Also one that may still come: nobody waits for it any more, and it would stay beside the next.
      if (this.#connecting === connecting) this.#drop()
    })
    return connecting
  }

  async #connect(): Promise<Queryable> {
    const endsAt = this.#database.endsAt()
    const client = await this.#ownClient(endsAt)
    // Nothing on the server can make it wait: no statement is under way here that would outlive its connection.
    await this.#database.by(client.query({ text: `listen "${this.#channel}"` }), endsAt)
    this.#delayMs = RECONNECT_MIN_MS
    for (const hint of SHARED_HINTS) this.tell(hint)
    return client
  }

  /** Made like the pool's own where the pool tells how; else one of them, kept. */
  async #ownClient(endsAt: number): Promise<Queryable> {
    const { Client, options } = this.#pool
    if (Client === undefined || options === undefined) {
      const client = (await this.#database.lent(endsAt)) as PoolClient & SingleClient
      this.#watch(client, () => client.release(true))
      return client
    }
    const client = new Client(options as never)
    this.#watch(client, () => void client.end().catch(() => undefined))
    await this.#database.by(client.connect(), endsAt)
    return client
  }

  #watch(client: SingleClient, close: () => void): void {
    const end = () => {
      if (this.#isAsking) void this.#database.abandon(client, close)
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
      this.tell(payload as Hint)
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
    const delayMs = this.#delayMs * (0.5 + this.#waiting.random())
    this.#delayMs = Math.min(2 * this.#delayMs, RECONNECT_MAX_MS)
    this.#stopTimer = this.#waiting.setTimer(delayMs, () => {
      this.#stopTimer = null
      if (!this.#isClosed) void this.#connected().catch(() => this.#reconnectLater())
    })
  }
}
