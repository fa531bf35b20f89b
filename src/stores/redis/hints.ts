import type { Hint } from "../../store/store.ts"
import { HintListeners } from "../kit/hint-listeners.ts"
import { SHARED_HINTS } from "../kit/shared-hints.ts"
import type { Timers } from "../kit/timers.ts"
import type { RedisClient, RedisOptions } from "./client.ts"
import type { Connection } from "./connection.ts"
import { KEYS } from "./lua/keys.ts"
import { scriptOf } from "./script.ts"

const PUBLISH = scriptOf([KEYS], "call('PUBLISH', prefix .. ':hints', ARGV[1])")

/**
 * How often the subscribed connection is checked. If a firewall drops it or its host vanishes, it stays open on this side and
 * receives nothing. An idle process may send six commands a minute; this check uses three of them.
 */
export const CHECK_EVERY_MS = 20_000

/**
 * Receives the hints that scripts publish, over its own connection. If the connection breaks the driver reconnects; if it stops
 * answering it is replaced. Hints may have been missed in between, so listeners then get every hint.
 */
export class Hints {
  readonly #client: RedisClient
  readonly #connection: Connection
  readonly #deadlineMs: number
  readonly #timers: Timers
  readonly #channel: string
  readonly #listeners = new HintListeners()
  /** Called when this or another process published that runs have ended. */
  onEnded: () => void = () => undefined
  /** Called after each connect: the server may be a different one. */
  onConnected: () => void = () => undefined
  #subscriber: RedisClient | null = null
  #subscribed: Promise<unknown> = Promise.resolve()
  #stopTimer: () => void = () => undefined

  constructor(
    client: RedisClient,
    connection: Connection,
    { prefix, deadlineMs }: RedisOptions,
    timers: Timers,
  ) {
    this.#client = client
    this.#connection = connection
    this.#deadlineMs = deadlineMs
    this.#timers = timers
    const { keyPrefix } = client.options ?? {}
    this.#channel = `${typeof keyPrefix === "string" ? keyPrefix : ""}${prefix}:hints`
  }

  /** Never fails: if the server is away, the subscription starts when it is back. */
  async listen(onHint: (hint: Hint) => void): Promise<() => void> {
    const stop = this.#listeners.add(onHint)
    if (this.#subscriber === null) this.#subscribe()
    await this.#connection.withDeadline(this.#subscribed).catch(ignored)
    return stop
  }

  notify(hint: Hint): void {
    this.#listeners.notify(hint)
  }

  /** Not awaited: without the hint, other processes find the change at their next poll. */
  publish(hint: Hint): void {
    this.#connection.run(PUBLISH, [hint]).catch(ignored)
  }

  close(): void {
    this.#listeners.clear()
    this.#stopTimer()
    this.#subscriber?.disconnect()
    this.#subscriber = null
  }

  #subscribe(): void {
    const subscriber = subscriberOf(this.#client)
    this.#subscriber = subscriber
    subscriber.on("error", ignored)
    subscriber.on("message", (_channel: string, words: string) => this.#receive(words.split(" ")))
    // At each connect: the driver drops a subscription that it could not send.
    subscriber.on("ready", () => void this.#check(subscriber, { isNew: true }))
    this.#subscribed = subscriber.subscribe(this.#channel)
    this.#subscribed.catch(ignored)
  }

  /** Subscribing again changes nothing and is answered, also by a cluster. So it serves as the check of the connection. */
  async #check(subscriber: RedisClient, { isNew }: { readonly isNew: boolean }): Promise<void> {
    if (this.#subscriber !== subscriber) return
    const stop = this.#setTimer(this.#deadlineMs, () => this.#replace(subscriber))
    try {
      await subscriber.subscribe(this.#channel)
    } catch {
      // No hints until the next connect.
      return
    } finally {
      stop()
    }
    if (this.#subscriber !== subscriber) return
    if (isNew) this.onConnected()
    if (isNew) this.#receive(SHARED_HINTS)
    this.#setTimer(CHECK_EVERY_MS, () => void this.#check(subscriber, { isNew: false }))
  }

  #replace(subscriber: RedisClient): void {
    subscriber.disconnect()
    this.#subscribe()
  }

  /** There is one timer at a time: for the next check, or for the deadline of the current one. */
  #setTimer(delayMs: number, callback: () => void): () => void {
    this.#stopTimer()
    this.#stopTimer = this.#timers.setTimer(delayMs, callback)
    return this.#stopTimer
  }

  #receive(words: readonly string[]): void {
    if (words.includes("ended")) this.onEnded()
    for (const hint of SHARED_HINTS) if (words.includes(hint)) this.notify(hint)
  }
}

/**
 * On a single server, ioredis must not resubscribe by itself: a failure there is an unhandled rejection, which ends the process.
 * On a cluster, ioredis handles the failure, and `duplicate` takes other options.
 */
function subscriberOf(client: RedisClient): RedisClient {
  if (client.isCluster) return client.duplicate()
  const single = client as unknown as { duplicate(options: { autoResubscribe: boolean }): RedisClient }
  return single.duplicate({ autoResubscribe: false })
}

/** The driver reconnects by itself; until then there are no hints. */
function ignored(): void {}
