import { describeThrown } from "../core/values/thrown.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Hint, Store } from "../store/store.ts"
import type { Events } from "./events.ts"

/** Listens for the hints of a store, and passes each to its listeners. */
export class StoreHints {
  readonly #context: StoreHintsContext
  readonly #listeners = new Set<(hint: Hint) => void>()
  #isOver = false
  #listening: Promise<void> | null = null
  #stopListening: () => Promise<void> = async () => undefined

  constructor(context: StoreHintsContext) {
    this.#context = context
  }

  /** Returns a function that removes the listener. */
  add(listener: (hint: Hint) => void): () => void {
    // A function that is added twice is called twice.
    const own = (hint: Hint) => listener(hint)
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
    }
  }

  notify(hint: Hint): void {
    for (const listener of this.#listeners) listener(hint)
  }

  /** Listens until `end`. Hints only save time, so this also resolves if the store can't give any. */
  listen(): Promise<void> {
    if (this.#isOver) return Promise.resolve()
    this.#listening ??= this.#begin()
    return this.#listening
  }

  async #begin(): Promise<void> {
    const { store, logger, events } = this.#context
    try {
      this.#stopListening = await store.listen((hint) => this.notify(hint))
    } catch (error) {
      this.#listening = null
      logger.warn({ component: "hints", error: describeThrown(error) }, "The store gives no hints; polling")
      events.error(error, "hints")
    }
  }

  async end(): Promise<void> {
    this.#isOver = true
    try {
      await this.#listening
      await this.#stopListening()
    } catch (error) {
      this.#context.events.error(error, "hints")
    }
  }
}

export interface StoreHintsContext {
  readonly store: Store
  readonly logger: Logger
  readonly events: Events
}
