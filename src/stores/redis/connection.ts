import { BelfryError } from "../../core/errors.ts"
import { answerOf } from "../../runtime/deadline.ts"
import type { Timers } from "../kit/timers.ts"
import type { RedisClient, RedisOptions } from "./client.ts"
import { faultOf, isDatabaseRefused, isWrongType, refusalOf } from "./faults.ts"
import type { Script } from "./script.ts"
import { wrongKeys } from "./wrong-keys.ts"

/** A reply of a script: an integer, a string, nothing, or a list of replies. */
export type Reply = string | number | null | undefined | readonly Reply[]

type CommandClient = Pick<RedisClient, "call" | "disconnect">

/** Runs scripts and commands, each with a deadline. */
export class Connection {
  readonly #client: CommandClient
  readonly #isOwned: boolean
  readonly #options: RedisOptions
  readonly #timers: Timers
  readonly #loadedScripts = new Set<string>()
  /** Unique to this connection. */
  readonly #name: string
  #calls = 0
  /** The last connection error. The driver gives it to `error` listeners only; calls fail with a bare retry limit error. */
  #connectionError: string | null = null
  /** Called when the server lacks a script that it had before: it may have been restarted or replaced. */
  onMissingScript: () => void = () => undefined

  constructor(client: CommandClient, isOwned: boolean, options: RedisOptions, timers: Timers) {
    this.#client = client
    this.#isOwned = isOwned
    this.#options = options
    this.#timers = timers
    this.#name = [timers.random(), timers.random()].map((part) => part.toString(36).slice(2)).join("")
  }

  /** Listens to the driver's errors, which the driver would otherwise print. The driver reconnects by itself. */
  readonly onError = (error: Error): void => {
    this.#connectionError = error.message || String((error as { code?: unknown }).code)
    // Without a reconnect, ioredis would go on in database 0 and write our keys there.
    if (this.#isOwned && isDatabaseRefused(error)) this.#client.disconnect(true)
  }

  /** Runs a script, which is atomic. The prefix is its only key: the script derives all others, which are in the same slot. */
  async run<T extends Reply>(script: Script, args: readonly (string | number)[]): Promise<T> {
    return (await this.withDeadline(this.#evaluate(script, [this.#options.prefix], args))) as T
  }

  /** Like `run`, for a script made by `answeringOnce` or `runningOnce`. Passes a second key that is unique to the call. */
  async once<T extends Reply>(script: Script, args: readonly (string | number)[]): Promise<T> {
    const { prefix } = this.#options
    this.#calls++
    const keys = [prefix, `${prefix}:calls:${this.#name}:${this.#calls}`]
    return (await this.withDeadline(this.#evaluate(script, keys, args))) as T
  }

  command(name: string, ...args: (string | number)[]): Promise<unknown> {
    return this.withDeadline(this.#client.call(name, args))
  }

  /** In [0, 1). */
  random(): number {
    return this.#timers.random()
  }

  /** Settles by the deadline even if the network hangs. Translates errors of the driver and of the server. */
  withDeadline<T>(work: Promise<T>): Promise<T> {
    const { deadlineMs, where } = this.#options
    return answerOf(this.#timers, this.#answerOf(work), {
      ...{ where, deadlineMs },
      explain: () => (this.#connectionError === null ? "" : `The driver says: ${this.#connectionError}.`),
      // If the server vanished without closing the connection, the connection would stay open and unanswered forever.
      onPassed: () => {
        if (this.#isOwned) this.#client.disconnect(true)
      },
    })
  }

  async #answerOf<T>(work: Promise<T>): Promise<T> {
    try {
      const answer = await work
      this.#connectionError = null
      return answer
    } catch (error) {
      throw faultOf(error, this.#options.where, this.#connectionError)
    }
  }

  /** Finds the key of the wrong type, because the server's error does not name it. */
  async #wrongKey(cause: unknown): Promise<unknown> {
    const { prefix, where } = this.#options
    const keys = await wrongKeys(prefix, (name, args) => this.#client.call(name, args))
    if (keys === "") return cause
    const text = `A key on ${where} is of the wrong type: ${keys}. Stop the program that writes it, then delete it or use another prefix.`
    return new BelfryError("BELFRY_STORE_UNFIT", text, { details: { keys }, cause })
  }

  async #evaluate(
    { sha, text }: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    let answer: unknown
    try {
      answer = await this.#client.call("evalsha", [sha, keys.length, ...keys, ...args])
    } catch (error) {
      if (isWrongType(error)) throw await this.#wrongKey(error)
      if (refusalOf(error) !== "NOSCRIPT") throw error
      if (this.#loadedScripts.has(sha)) this.onMissingScript()
      // The server is new or restarted, or its scripts were flushed. EVAL runs the script and caches it.
      answer = await this.#client.call("eval", [text, keys.length, ...keys, ...args])
    }
    this.#loadedScripts.add(sha)
    return answer
  }
}
