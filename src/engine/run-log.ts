import type { Json } from "../core/json.ts"
import { storable } from "../core/thrown.ts"
import type { LogLevel, LogLine, Store } from "../store/store.ts"
import type { Clock } from "./clock.ts"
import type { RunLogger } from "./task.ts"

const LINE_MAX_BYTES = 64 * 1024
/** What one attempt may write. */
const LOG_MAX_BYTES = 5 * 1024 * 1024
const FLUSH_AFTER_MS = 500
const FLUSH_AT_LINES = 200

/** The lines of one attempt: gathered, then stored together. Losing a log line never fails a run. */
export class RunLog implements RunLogger {
  readonly #store: Store
  readonly #clock: Clock
  readonly #runId: string
  readonly #attempt: number
  #lines: (Omit<LogLine, "agoMs"> & { readonly writtenAt: number })[] = []
  #bytes = 0
  #isFull = false
  #cancelTimer: (() => void) | null = null
  #flushing: Promise<void> = Promise.resolve()

  constructor(about: { store: Store; clock: Clock; runId: string; attempt: number }) {
    this.#store = about.store
    this.#clock = about.clock
    this.#runId = about.runId
    this.#attempt = about.attempt
  }

  debug(message: string, fields?: object): void {
    this.#write("debug", message, fields)
  }
  info(message: string, fields?: object): void {
    this.#write("info", message, fields)
  }
  warn(message: string, fields?: object): void {
    this.#write("warn", message, fields)
  }
  error(message: string, fields?: object): void {
    this.#write("error", message, fields)
  }

  /** Everything written so far is in the store when this resolves, or given up. */
  flush(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    const lines = this.#lines
    this.#lines = []
    if (lines.length > 0) this.#flushing = this.#flushing.then(() => this.#send(lines))
    return this.#flushing
  }

  #write(level: LogLevel, message: string, fields: object | undefined): void {
    if (this.#isFull) return
    const text = storable(String(message), LINE_MAX_BYTES)
    const data = plainFields(fields)
    this.#bytes += Buffer.byteLength(text) + (data === null ? 0 : Buffer.byteLength(JSON.stringify(data)))
    if (this.#bytes > LOG_MAX_BYTES) {
      this.#isFull = true
      this.#push(
        "warn",
        `The log of this attempt reached ${LOG_MAX_BYTES} bytes; the rest is not kept.`,
        null,
      )
    } else this.#push(level, text, data)
    if (this.#lines.length >= FLUSH_AT_LINES) void this.flush()
    this.#cancelTimer ??= this.#clock.setTimer(FLUSH_AFTER_MS, () => void this.flush())
  }

  #push(level: LogLevel, message: string, fields: Json): void {
    const writtenAt = this.#clock.monotonic()
    this.#lines.push({ runId: this.#runId, attempt: this.#attempt, level, message, fields, writtenAt })
  }

  async #send(lines: readonly (Omit<LogLine, "agoMs"> & { writtenAt: number })[]): Promise<void> {
    const now = this.#clock.monotonic()
    const dated = lines.map(({ writtenAt, ...line }) => ({
      ...line,
      agoMs: Math.max(0, Math.round(now - writtenAt)),
    }))
    try {
      await this.#store.appendLogs(dated)
    } catch {
      // The store is away: the run itself will say so, and a log is not worth holding it up.
    }
  }
}

function plainFields(fields: object | undefined): Json {
  if (fields === undefined) return null
  try {
    const text = JSON.stringify(fields)
    if (text === undefined) return null
    const bytes = Buffer.byteLength(text)
    return bytes > LINE_MAX_BYTES
      ? { notStored: `${bytes} bytes; at most ${LINE_MAX_BYTES} are kept` }
      : (JSON.parse(text) as Json)
  } catch {
    return { unreadable: true }
  }
}
