import type { Hint } from "../../store/store.ts"
import type { Runner, Waiting } from "./database.ts"

export const NOTIFY = "select pg_catalog.pg_notify($1, hint) from pg_catalog.unnest($2::text[]) as n(hint)"

/** A server takes notifications one at a time, at each commit: a busy process sends one for all it did in this long. */
const PAUSE_MS = 20

/** Tells the other processes, at once and then not again for a moment. They only learn sooner what they would find anyway. */
export class HintSender {
  readonly #runner: Runner
  readonly #waiting: Waiting
  readonly #channel: string
  readonly #waitingHints = new Set<Hint>()
  #stopTimer: (() => void) | null = null
  #sending: Promise<unknown> = Promise.resolve()

  constructor(runner: Runner, waiting: Waiting, channel: string) {
    this.#runner = runner
    this.#waiting = waiting
    this.#channel = channel
  }

  tell(hints: readonly Hint[]): void {
    for (const hint of hints) this.#waitingHints.add(hint)
    if (this.#stopTimer === null) this.#send()
  }

  /** When all that was told is sent: whoever makes one change and ends, as a command does, is heard. */
  async close(): Promise<void> {
    this.#stopTimer?.()
    this.#send()
    this.#stopTimer?.()
    await this.#sending
  }

  #send(): void {
    this.#stopTimer = null
    if (this.#waitingHints.size === 0) return
    const hints = [...this.#waitingHints]
    this.#waitingHints.clear()
    this.#stopTimer = this.#waiting.setTimer(PAUSE_MS, () => this.#send())
    // A hint that is lost costs others a moment, as any lost hint does.
    const sent = this.#runner.rows(NOTIFY, [this.#channel, hints]).then(
      () => undefined,
      () => undefined,
    )
    // Resolves to nothing: a list of what was sent before would grow for as long as the process lives.
    this.#sending = Promise.all([this.#sending, sent]).then(() => undefined)
  }
}
