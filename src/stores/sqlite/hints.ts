import type { Hint } from "../../store/store.ts"
import { SHARED_HINTS } from "../kit/shared-hints.ts"
import type { Connection, Waiting } from "./connection.ts"
import { type HintCounts, readHintCounts } from "./statements/hint-counts.ts"

/** How often the file is looked at for other processes' commits, while somebody listens: a read of shared memory. */
const WATCH_EVERY_MS = 100

/**
 * What this connection writes is told at once; what other processes write, by looking whether the file has changed, and if
 * it has, whether any of it is news: a heartbeat isn't.
 */
export class Hints {
  readonly #waiting: Waiting
  readonly #connection: () => Connection | null
  readonly #listeners = new Set<(hint: Hint) => void>()
  #seen: { dataVersion: number; news: HintCounts } | null = null
  #stopWatch: (() => void) | null = null

  constructor(waiting: Waiting, connection: () => Connection | null) {
    this.#waiting = waiting
    this.#connection = connection
  }

  listen(onHint: (hint: Hint) => void): () => void {
    // A listener of its own for each call: one callback may listen twice, and stop once.
    const listener = (hint: Hint) => onHint(hint)
    this.#listeners.add(listener)
    if (this.#stopWatch === null) this.#watch()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  /** This connection's own news, committed. */
  tell(hints: readonly Hint[]): void {
    if (this.#seen !== null) {
      const { dataVersion, news } = this.#seen
      this.#seen = { dataVersion, news: added(news, hints) }
    }
    for (const hint of hints) this.#call(hint)
  }

  close(): void {
    this.#listeners.clear()
    this.#stop()
  }

  #watch(): void {
    this.#look()
    this.#stopWatch = this.#waiting.setTimer(WATCH_EVERY_MS, () => this.#watch())
  }

  #stop(): void {
    this.#stopWatch?.()
    this.#stopWatch = null
    this.#seen = null
  }

  #look(): void {
    const connection = this.#connection()
    if (connection === null) return
    try {
      const dataVersion = connection.dataVersion()
      if (dataVersion === this.#seen?.dataVersion) return
      const news = readHintCounts(connection)
      const before = this.#seen?.news ?? news
      this.#seen = { dataVersion, news }
      for (const hint of SHARED_HINTS) if (news[hint] !== before[hint]) this.#call(hint)
    } catch {
      // A file that can't be read now is the next call's fault to tell. A hint that was lost costs only speed (law 11).
    }
  }

  #call(hint: Hint): void {
    for (const listener of this.#listeners) {
      try {
        listener(hint)
      } catch {
        // The write is done, whatever its listener makes of it.
      }
    }
  }
}

function added(news: HintCounts, hints: readonly Hint[]): HintCounts {
  const counts = SHARED_HINTS.map((hint) => [hint, news[hint] + (hints.includes(hint) ? 1 : 0)])
  return Object.fromEntries(counts) as HintCounts
}
