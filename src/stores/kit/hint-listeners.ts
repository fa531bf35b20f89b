import type { Hint } from "../../store/store.ts"

/** The listeners of a store. */
export class HintListeners {
  readonly #listeners = new Set<{ onHint(hint: Hint): void }>()

  get size(): number {
    return this.#listeners.size
  }

  /** Returns the function that removes the listener. A callback that is added twice is called twice, and removed one by one. */
  add(onHint: (hint: Hint) => void): () => void {
    const listener = { onHint }
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  notify(hint: Hint): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener.onHint(hint)
      } catch {
        // An error in a listener must not fail the write that sent the hint, nor stop the other listeners.
      }
    }
  }

  clear(): void {
    this.#listeners.clear()
  }
}
