import { type Json, storableJson } from "../core/values/json.ts"
import { textFrom } from "../core/values/shown.ts"
import { storable } from "../core/values/thrown.ts"
import type { Clock } from "../runtime/clock.ts"
import type { LogLevel, LogLine, Store } from "../store/store.ts"
import type { RunLogger } from "../task/task-context.ts"

const LINE_MAX_BYTES = 64 * 1024
/** Limit of one attempt's log. Each line also counts `LINE_COST_BYTES`, so the number of lines is limited, too. */
const LOG_MAX_BYTES = 5 * 1024 * 1024
const LINE_COST_BYTES = 100
const FLUSH_AFTER_MS = 500
const BATCH_LINES = 200
/** After this many failed sends in a row, a log waits for its next line or for the end of the attempt. */
const TRIES = 8
/** At the end of an attempt its last lines get a few tries, and `FINAL_MAX_MS` at most. */
const FINAL_TRIES = 3
const FINAL_PAUSE_MS = 250
const FINAL_MAX_MS = 2_000

type Line = Omit<LogLine, "agoMs"> & { readonly writtenAt: number }

/**
 * Collects and numbers the lines of one attempt, and stores them in batches. Lines whose send failed are sent again; lines that
 * arrive twice are stored once (law 8). A lost log line never fails a run.
 */
export class RunLog implements RunLogger {
  readonly #store: Store
  readonly #clock: Clock
  readonly #runId: string
  readonly #attempt: number
  /** Lines that the store hasn't confirmed, in order. */
  #unsent: Line[] = []
  #lastNumber = 0
  #bytes = 0
  #isFull = false
  #failures = 0
  #cancelTimer: (() => void) | null = null
  #sending: Promise<boolean> | null = null

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

  /** There is nothing to flush. True of most tasks, because they write no lines. */
  get isFlushed(): boolean {
    return this.#unsent.length === 0 && this.#cancelTimer === null
  }

  /** Called at the end of the attempt. When it resolves, each line is stored or given up. */
  async flush(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    if (this.#unsent.length === 0) return
    await new Promise<void>((resolve) => {
      // A store that doesn't answer may cost log lines, but must not delay the end of the run.
      const cancelDeadline = this.#clock.setTimer(FINAL_MAX_MS, resolve)
      void this.#sendAll().then(() => {
        cancelDeadline()
        resolve()
      })
    })
  }

  #write(level: LogLevel, message: string, fields: object | undefined): void {
    if (this.#isFull) return
    const text = storable(textFrom(message), LINE_MAX_BYTES)
    const data = plainFields(fields)
    this.#bytes +=
      LINE_COST_BYTES +
      Buffer.byteLength(text) +
      (data === null ? 0 : Buffer.byteLength(JSON.stringify(data)))
    if (this.#bytes > LOG_MAX_BYTES) {
      this.#isFull = true
      this.#push(
        "warn",
        `The log of this attempt reached ${LOG_MAX_BYTES} bytes, with ${LINE_COST_BYTES} for each line; the rest is not kept.`,
        null,
      )
    } else this.#push(level, text, data)
    const isBatch = this.#unsent.length >= BATCH_LINES
    if (isBatch && this.#sending === null && this.#failures === 0) void this.#sendBatches()
    this.#sendLater()
  }

  #push(level: LogLevel, message: string, fields: Json): void {
    const writtenAt = this.#clock.monotonic()
    const number = ++this.#lastNumber
    this.#unsent.push({
      ...{ runId: this.#runId, attempt: this.#attempt, number },
      ...{ level, message, fields, writtenAt },
    })
  }

  #sendLater(): void {
    const delayMs = FLUSH_AFTER_MS * 2 ** this.#failures
    this.#cancelTimer ??= this.#clock.setTimer(delayMs, () => {
      this.#cancelTimer = null
      void this.#sendBatches()
    })
  }

  /** Used during the attempt: sends while there are full batches. The remaining and the failed lines go with the next send. */
  async #sendBatches(): Promise<void> {
    let isSent = await this.#send()
    while (isSent && this.#unsent.length >= BATCH_LINES) {
      await this.#yieldToTimers()
      isSent = await this.#send()
    }
    this.#failures = isSent ? 0 : Math.min(this.#failures + 1, TRIES)
    if (this.#unsent.length > 0 && this.#failures < TRIES) this.#sendLater()
  }

  async #sendAll(): Promise<void> {
    for (let failures = 0; this.#unsent.length > 0 && failures < FINAL_TRIES; ) {
      if (await this.#send()) {
        if (this.#unsent.length > 0) await this.#yieldToTimers()
        continue
      }
      failures++
      if (failures < FINAL_TRIES) await this.#pause(FINAL_PAUSE_MS)
    }
    this.#unsent = []
    this.#cancelTimer?.()
    this.#cancelTimer = null
  }

  /** SQLite answers synchronously. Without a timer in between, a thousand batches would delay heartbeats and signals. */
  #yieldToTimers(): Promise<void> {
    return this.#pause(0)
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.setTimer(delayMs, resolve)
    })
  }

  /** True: the oldest lines are stored. Only one call is under way at a time; callers that arrive during it share its result. */
  #send(): Promise<boolean> {
    this.#sending ??= this.#append(this.#unsent.slice(0, BATCH_LINES)).finally(() => {
      this.#sending = null
    })
    return this.#sending
  }

  async #append(lines: readonly Line[]): Promise<boolean> {
    const now = this.#clock.monotonic()
    const dated = lines.map(({ writtenAt, ...line }) => ({
      ...line,
      agoMs: Math.max(0, Math.round(now - writtenAt)),
    }))
    try {
      if (dated.length > 0) await this.#store.appendLogs(dated)
    } catch {
      // The store is unreachable. The end of the run reports that, and must not be delayed for its log.
      return false
    }
    // Lines written during the call come after these.
    this.#unsent.splice(0, lines.length)
    return true
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
      : (JSON.parse(storableJson(text)) as Json)
  } catch {
    return { unreadable: true }
  }
}
