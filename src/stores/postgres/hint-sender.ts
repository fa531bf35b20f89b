import type { Hint } from "../../store/store.ts"
import type { Timers } from "../kit/timers.ts"
import type { Runner } from "./database.ts"

export const NOTIFY = "select pg_catalog.pg_notify($1, hint) from pg_catalog.unnest($2::text[]) as n(hint)"

/** PostgreSQL serialises commits that notify. So a busy process sends one notification for all its changes of this time. */
const PAUSE_MS = 20

/**
 * Sends hints to other processes: the first at once, later ones together after a pause. Without hints they find changes by
 * polling.
 */
export class HintSender {
  readonly #runner: Runner
  readonly #timers: Timers
  readonly #channel: string
  readonly #pending = new Set<Hint>()
  #stopTimer: (() => void) | null = null
  #sending: Promise<unknown> = Promise.resolve()

  constructor(runner: Runner, timers: Timers, channel: string) {
    this.#runner = runner
    this.#timers = timers
    this.#channel = channel
  }

  send(hints: readonly Hint[]): void {
    for (const hint of hints) this.#pending.add(hint)
    if (this.#stopTimer === null) this.#flush()
  }

  /** Resolves when all hints are sent, so that a process that makes one change and exits, like a CLI command, still notifies. */
  async close(): Promise<void> {
    this.#stopTimer?.()
    this.#flush()
    this.#stopTimer?.()
    await this.#sending
  }

  #flush(): void {
    this.#stopTimer = null
    if (this.#pending.size === 0) return
    const hints = [...this.#pending]
    this.#pending.clear()
    this.#stopTimer = this.#timers.setTimer(PAUSE_MS, () => this.#flush())
    // A lost hint only means that other processes find the change at their next poll.
    const sent = this.#runner.rows(NOTIFY, [this.#channel, hints]).then(
      () => undefined,
      () => undefined,
    )
    // Resolves to undefined: the results of all earlier sends would accumulate for the life of the process.
    this.#sending = Promise.all([this.#sending, sent]).then(() => undefined)
  }
}
