import type { Hint } from "../../store/store.ts"
import { SHARED_HINTS } from "../kit/shared-hints.ts"
import type { RedisClient, RedisOptions, Waiting } from "./client.ts"
import type { Connection } from "./connection.ts"
import { KEYS } from "./lua/keys.ts"
import { scriptOf } from "./script.ts"

const PUBLISH = scriptOf(KEYS, "call('PUBLISH', prefix .. ':news', ARGV[1])")

/**
 * A connection that dies without a word (a firewall forgot it, its host is gone) stays open on this side and hears nothing for
 * good. So it has to answer this often. Of the six questions a minute that an idle process may ask, this leaves three.
 */
export const CHECK_EVERY_MS = 20_000

/**
 * Hears what scripts publish, over a connection of its own. When that breaks the driver makes it anew, and when it falls silent
 * it is replaced; since a hint may have been missed meanwhile, everything is hinted at then.
 */
export class Hints {
  readonly #client: RedisClient
  readonly #connection: Connection
  readonly #deadlineMs: number
  readonly #waiting: Waiting
  readonly #channel: string
  readonly #listeners = new Set<{ onHint(hint: Hint): void }>()
  /** Somebody told that runs have ended, this process or another. */
  onEnded: () => void = () => undefined
  /** Called at each connection: the server may be another one than before. */
  onConnected: () => void = () => undefined
  #subscriber: RedisClient | null = null
  #subscribed: Promise<unknown> = Promise.resolve()
  #stopTimer: () => void = () => undefined

  constructor(
    client: RedisClient,
    connection: Connection,
    { prefix, deadlineMs }: RedisOptions,
    waiting: Waiting,
  ) {
    this.#client = client
    this.#connection = connection
    this.#deadlineMs = deadlineMs
    this.#waiting = waiting
    const { keyPrefix } = client.options ?? {}
    this.#channel = `${typeof keyPrefix === "string" ? keyPrefix : ""}${prefix}:news`
  }

  /** Silent is allowed: if the channel can't be had now, it is when the server is back. */
  async listen(onHint: (hint: Hint) => void): Promise<() => void> {
    // The same callback twice is two listeners.
    const listener = { onHint }
    this.#listeners.add(listener)
    if (this.#subscriber === null) this.#subscribe()
    await this.#connection.by(this.#subscribed).catch(ignored)
    return () => {
      this.#listeners.delete(listener)
    }
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

  /** Not waited for: a hint that is lost costs others a moment. */
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
    const subscriber = anotherOf(this.#client)
    this.#subscriber = subscriber
    subscriber.on("error", ignored)
    subscriber.on("message", (_channel: string, words: string) => this.#tellWords(words.split(" ")))
    // At each connection: the driver gives up what it couldn't send.
    subscriber.on("ready", () => void this.#follow(subscriber, { isNew: true }))
    this.#subscribed = subscriber.subscribe(this.#channel)
    this.#subscribed.catch(ignored)
  }

  /** To subscribe again changes nothing and is answered, also by a cluster: that is the check of a connection. */
  async #follow(subscriber: RedisClient, { isNew }: { readonly isNew: boolean }): Promise<void> {
    if (this.#subscriber !== subscriber) return
    const stop = this.#setTimer(this.#deadlineMs, () => this.#replace(subscriber))
    try {
      await subscriber.subscribe(this.#channel)
    } catch {
      // Silent until the next connection.
      return
    } finally {
      stop()
    }
    if (this.#subscriber !== subscriber) return
    if (isNew) this.onConnected()
    if (isNew) this.#tellWords(SHARED_HINTS)
    this.#setTimer(CHECK_EVERY_MS, () => void this.#follow(subscriber, { isNew: false }))
  }

  #replace(subscriber: RedisClient): void {
    subscriber.disconnect()
    this.#subscribe()
  }

  /** One at a time: either the next check, or the end of its patience. */
  #setTimer(delayMs: number, callback: () => void): () => void {
    this.#stopTimer()
    this.#stopTimer = this.#waiting.setTimer(delayMs, callback)
    return this.#stopTimer
  }

  #tellWords(words: readonly string[]): void {
    if (words.includes("ended")) this.onEnded()
    for (const hint of SHARED_HINTS) if (words.includes(hint)) this.tell(hint)
  }
}

/**
 * The driver of a single server must not subscribe again by itself: nobody hears when that fails, and an error that nobody hears ends
 * the process. A cluster's driver hears it, and takes other options.
 */
function anotherOf(client: RedisClient): RedisClient {
  if (client.isCluster) return client.duplicate()
  const single = client as unknown as { duplicate(options: { autoResubscribe: boolean }): RedisClient }
  return single.duplicate({ autoResubscribe: false })
}

/** The driver connects again by itself; until then there are no hints. */
function ignored(): void {}
