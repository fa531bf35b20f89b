import type { Hint } from "../../store/store.ts"
import { SHARED_HINTS } from "../kit/shared-hints.ts"
import type { Connection, Waiting } from "./connection.ts"
import { type HintCounts, readHintCounts } from "./statements/hint-counts.ts"

/** How often the file is checked for commits of other processes, while there are listeners. A check reads shared memory. */
const WATCH_EVERY_MS = 100

/**
 * Hints for this connection's own writes are sent at once. For writes of other processes, the file is checked for changes, and
 * if it has changed, the stored counts of hints are compared: a heartbeat changes the file, but no count.
 */
export class Hints {
  readonly #waiting: Waiting
  readonly #connection: () => Connection | null
  readonly #listeners = new Set<(hint: Hint) => void>()
  #seen: { dataVersion: number; counts: HintCounts } | null = null
  #stopWatch: (() => void) | null = null

  constructor(waiting: Waiting, connection: () => Connection | null) {
    this.#waiting = waiting
    this.#connection = connection
  }

  listen(onHint: (hint: Hint) => void): () => void {
    // A new function for each call, because one callback may be passed twice and stopped once.
    const listener = (hint: Hint) => onHint(hint)
    this.#listeners.add(listener)
    if (this.#stopWatch === null) this.#watch()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  /** Sends the hints of this connection's own committed write. */
  send(hints: readonly Hint[]): void {
    if (this.#seen !== null) {
      const { dataVersion, counts } = this.#seen
      this.#seen = { dataVersion, counts: added(counts, hints) }
    }
    for (const hint of hints) this.#call(hint)
  }

  close(): void {
    this.#listeners.clear()
    this.#stop()
  }

  #watch(): void {
    this.#check()
    this.#stopWatch = this.#waiting.setTimer(WATCH_EVERY_MS, () => this.#watch())
  }

  #stop(): void {
    this.#stopWatch?.()
    this.#stopWatch = null
    this.#seen = null
  }

  #check(): void {
    const connection = this.#connection()
    if (connection === null) return
    try {
      const dataVersion = connection.dataVersion()
      if (dataVersion === this.#seen?.dataVersion) return
      const counts = readHintCounts(connection)
      const before = this.#seen?.counts ?? counts
      this.#seen = { dataVersion, counts }
      for (const hint of SHARED_HINTS) if (counts[hint] !== before[hint]) this.#call(hint)
    } catch {
      // If the file can't be read, the next operation throws. A lost hint costs only speed (law 11).
    }
  }

  #call(hint: Hint): void {
    for (const listener of this.#listeners) {
      try {
        listener(hint)
      } catch {
        // The write is done, and a listener that throws doesn't change that.
      }
    }
  }
}

function added(counts: HintCounts, hints: readonly Hint[]): HintCounts {
  const sums = SHARED_HINTS.map((hint) => [hint, counts[hint] + (hints.includes(hint) ? 1 : 0)])
  return Object.fromEntries(sums) as HintCounts
}
