import { BelfryError } from "../../core/errors.ts"
import type { RedisClient, RedisOptions, Waiting } from "./client.ts"
import { faultOf, isDatabaseRefused, isWrongType, refusalOf } from "./faults.ts"
import type { Script } from "./script.ts"
import { wrongKeys } from "./wrong-keys.ts"

/** What a script answers: whole numbers, texts, nothing, and lists of these. */
export type Reply = string | number | null | undefined | readonly Reply[]

type Calling = Pick<RedisClient, "call" | "disconnect">

/** Runs scripts, each by a deadline. */
export class Connection {
  readonly #client: Calling
  readonly #isOurs: boolean
  readonly #options: RedisOptions
  readonly #waiting: Waiting
  readonly #known = new Set<string>()
  /** No other connection has it. */
  readonly #name: string
  #calls = 0
  /** Why the driver can't connect, which it tells listeners only; its calls hear that they were tried often enough. */
  #reason: string | null = null
  /** Called when the server doesn't know what it knew: it may be another one than before. */
  onStranger: () => void = () => undefined

  constructor(client: Calling, isOurs: boolean, options: RedisOptions, waiting: Waiting) {
    this.#client = client
    this.#isOurs = isOurs
    this.#options = options
    this.#waiting = waiting
    this.#name = [waiting.random(), waiting.random()].map((chance) => chance.toString(36).slice(2)).join("")
  }

  /** For the driver's errors, which it would print if nobody listened. It connects again by itself. */
  readonly onError = (error: Error): void => {
    this.#reason = error.message || String((error as { code?: unknown }).code)
    // It would go on with database 0, where nobody looks for what is written.
    if (this.#isOurs && isDatabaseRefused(error)) this.#client.disconnect(true)
  }

  /** One atom. The prefix is its only key: others are made from it, and lie in the same slot of a cluster. */
  async run<T extends Reply>(script: Script, args: readonly (string | number)[]): Promise<T> {
    return (await this.by(this.#evaluate(script, [this.#options.prefix], args))) as T
  }

  /** As `run`, for a script that `answeringOnce` or `runningOnce` made: each call has a key of its own. */
  async once<T extends Reply>(script: Script, args: readonly (string | number)[]): Promise<T> {
    const { prefix } = this.#options
    this.#calls++
    const keys = [prefix, `${prefix}:calls:${this.#name}:${this.#calls}`]
    return (await this.by(this.#evaluate(script, keys, args))) as T
  }

  command(name: string, ...args: (string | number)[]): Promise<unknown> {
    return this.by(this.#client.call(name, args))
  }

  /** In [0, 1). */
  chance(): number {
    return this.#waiting.random()
  }

  /** Ends by the deadline, whatever the network does; what goes wrong is told in our words. */
  by<T>(work: Promise<T>): Promise<T> {
    const { deadlineMs, where } = this.#options
    return new Promise((resolve, reject) => {
      const stop = this.#waiting.setTimer(deadlineMs, () => {
        const why = this.#reason === null ? "" : ` The driver says: ${this.#reason}.`
        const text = `${where} did not answer within ${deadlineMs / 1000} s.${why}`
        reject(new BelfryError("BELFRY_STORE_UNAVAILABLE", text))
        // A server that is gone without a word leaves a connection that is never answered, and never ends by itself.
        if (this.#isOurs) this.#client.disconnect(true)
      })
      const onAnswer = (answer: T) => {
        this.#reason = null
        resolve(answer)
      }
      work.then(onAnswer, (error) => reject(faultOf(error, where, this.#reason))).finally(stop)
    })
  }

  /** The server doesn't say which key it is. */
  async #wrongKey(cause: unknown): Promise<unknown> {
    const { prefix, where } = this.#options
    const keys = await wrongKeys(prefix, (name, args) => this.#client.call(name, args))
    if (keys === "") return cause
    const text = `A key on ${where} is of the wrong type: ${keys}. Stop what writes to it, and delete it or take another prefix.`
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
      if (this.#known.has(sha)) this.onStranger()
      // The server is new, was restarted or was told to forget: it learns the script by running it.
      answer = await this.#client.call("eval", [text, keys.length, ...keys, ...args])
    }
    this.#known.add(sha)
    return answer
  }
}
