import type { Hint } from "../../store/store.ts"
import { HintListeners } from "../kit/hint-listeners.ts"
import { SHARED_HINTS } from "../kit/shared-hints.ts"
import type { Timers } from "../kit/timers.ts"
import type { Connection } from "./connection.ts"
import { type HintCounts, readHintCounts } from "./statements/hint-counts.ts"

/** How often the file is checked for commits of other processes, while there are listeners. A check reads shared memory. */
const WATCH_EVERY_MS = 100

/**
 * Hints for this connection's own writes are sent at once. For writes of other processes, the file is checked for changes, and
 * if it has changed, the stored counts of hints are compared: a heartbeat changes the file, but no count.
 */
export class Hints {
  readonly #timers: Timers
  readonly #connection: () => Connection | null
  readonly #listeners = new HintListeners()
  #seen: { dataVersion: number; counts: HintCounts } | null = null
  #stopWatch: (() => void) | null = null

  constructor(timers: Timers, connection: () => Connection | null) {
    this.#timers = timers
    this.#connection = connection
  }

  listen(onHint: (hint: Hint) => void): () => void {
    const stop = this.#listeners.add(onHint)
    if (this.#stopWatch === null) this.#watch()
    return () => {
      stop()
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  /** Sends the hints of this connection's own committed write. */
  send(hints: readonly Hint[]): void {
    if (this.#seen !== null) {
      const { dataVersion, counts } = this.#seen
      this.#seen = { dataVersion, counts: added(counts, hints) }
    }
    for (const hint of hints) this.#listeners.notify(hint)
  }

  close(): void {
    this.#listeners.clear()
    this.#stop()
  }

  #watch(): void {
    this.#check()
    this.#stopWatch = this.#timers.setTimer(WATCH_EVERY_MS, () => this.#watch())
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
      for (const hint of SHARED_HINTS) if (counts[hint] !== before[hint]) this.#listeners.notify(hint)
    } catch {
      // If the file can't be read, the next operation throws. A lost hint costs only speed (law 11).
    }
  }
}

function added(counts: HintCounts, hints: readonly Hint[]): HintCounts {
  const sums = SHARED_HINTS.map((hint) => [hint, counts[hint] + (hints.includes(hint) ? 1 : 0)])
  return Object.fromEntries(sums) as HintCounts
}
