import { dirname } from "node:path"
import { BelfryError } from "../../core/errors.ts"
import type { Instant } from "../../core/time/instant.ts"
import type { Timers } from "../kit/timers.ts"
import type { Database, Driver } from "./driver.ts"
import { faultOf, isBusy } from "./faults.ts"
import { assertLocal } from "./file-system.ts"
import { migrate } from "./migrations.ts"
import { OpenFile } from "./open-file.ts"
import { Prepared } from "./prepared.ts"

export interface ConnectionOptions {
  readonly path: string
  readonly durability: "normal" | "full"
  /** How long a call tries again while another process holds the lock. */
  readonly lockDeadlineMs: number
}

/**
 * SQLite blocks the whole process while it waits for a lock, so it waits only this long. After that a timer waits, and the
 * event loop goes on.
 */
const BUSY_TIMEOUT_MS = 50
const RETRY_MIN_MS = 5
const RETRY_MAX_MS = 100
/**
 * In pages of 4 KiB: a checkpoint every 4 MB of log, so that the log doesn't fill a small disk. A log of 32 MB fired no faster
 * (5,700 fires/s with 4 MB, 5,100 with 32 MB) and wrote single runs faster (2,700 a second instead of 1,900).
 */
const CHECKPOINT_PAGES = 1_000
/** A long read can make the log large. The next checkpoint cuts it back to this size. */
const WAL_KEPT_BYTES = CHECKPOINT_PAGES * 4_096
/** Enough for the upper pages of every index. SQLite's default is 2 MB. */
const CACHE_KIB = 32 * 1024

/** Referenced here, so that the garbage collector doesn't close them. */
const keptOpen: Database[] = []

/** One connection to the file. Each transaction is one synchronous function. */
export class Connection extends Prepared {
  readonly #database: Database
  readonly #options: ConnectionOptions
  readonly #timers: Timers
  #file: OpenFile | null = null
  #isClosed = false

  static async open(driver: Driver, options: ConnectionOptions, timers: Timers): Promise<Connection> {
    const { path } = options
    if (path !== ":memory:") assertLocal(path)
    let database: Database
    try {
      database = driver.open(path)
    } catch (error) {
      throw faultOf(error, path)
    }
    const connection = new Connection(database, options, timers)
    try {
      await connection.#prepareFile()
    } catch (error) {
      database.close()
      throw error
    }
    return connection
  }

  private constructor(database: Database, options: ConnectionOptions, timers: Timers) {
    super(database)
    this.#database = database
    this.#options = options
    this.#timers = timers
  }

  /** All reads in it see one state of the file. Readers wait for no other process, because of the write-ahead log. */
  read<T>(work: (now: Instant) => T): Promise<T> {
    return this.#transact("begin", work)
  }

  /**
   * `begin immediate` takes the file's write lock at once: rows that are read inside can't change before the commit, and no
   * transaction fails half-way because another one wrote first.
   */
  write<T>(work: (now: Instant) => T): Promise<T> {
    return this.#transact("begin immediate", work)
  }

  /** A write that needn't survive a power cut, so it doesn't wait for the disk. */
  async writeUnsynced<T>(work: (now: Instant) => T): Promise<T> {
    if (this.#options.durability === "normal") return this.write(work)
    return this.#withRetries(() => {
      this.prepare("pragma synchronous = normal").run()
      try {
        return this.#transaction("begin immediate", work)
      } finally {
        this.prepare("pragma synchronous = full").run()
      }
    })
  }

  /** Changes when another connection, of any process, has committed. Reads a few bytes of shared memory. */
  dataVersion(): number {
    return (this.prepare("pragma data_version").get() as { data_version: number }).data_version
  }

  /**
   * The checkpoint leaves all data in the file, and no log or an empty one. SQLite does that at the last close, but
   * @photostructure/sqlite keeps a closed file open until its statements are garbage-collected, so SQLite sees no last close.
   */
  close(): void {
    this.#isClosed = true
    // Closing deletes the log by its name, which now belongs to another file. So it stays open until the process ends.
    if (this.#file?.isSame() === false) return void keptOpen.push(this.#database)
    try {
      this.#database.exec("pragma wal_checkpoint(truncate)")
    } catch {
      // Committed data is safe in the log: the next process that opens the file reads it there.
    } finally {
      this.clear()
      this.#database.close()
    }
  }

  #transact<T>(begin: string, work: (now: Instant) => T): Promise<T> {
    return this.#withRetries(() => this.#transaction(begin, work))
  }

  #transaction<T>(begin: string, work: (now: Instant) => T): T {
    this.prepare(begin).run()
    try {
      const result = work(this.now())
      this.prepare("commit").run()
      return result
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  #rollBack(): void {
    try {
      this.prepare("rollback").run()
    } catch {
      // A full disk or a failed read ends the transaction, and then there is none to roll back.
    }
  }

  async #withRetries<T>(attempt: () => T): Promise<T> {
    const { path, lockDeadlineMs } = this.#options
    this.#file?.assertSame(this.#timers.monotonic())
    const deadline = this.#timers.monotonic() + lockDeadlineMs
    for (let delayMs = RETRY_MIN_MS; ; delayMs = Math.min(2 * delayMs, RETRY_MAX_MS)) {
      try {
        return attempt()
      } catch (error) {
        if (!isBusy(error) || this.#timers.monotonic() >= deadline) throw faultOf(error, path)
      }
      await this.#pause(delayMs * (0.5 + this.#timers.random()))
      if (this.#isClosed) throw new BelfryError("BELFRY_STORE_CLOSED", `The store on ${path} was closed.`)
    }
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timers.setTimer(delayMs, resolve)
    })
  }

  async #prepareFile(): Promise<void> {
    const { path, durability } = this.#options
    await this.#withRetries(() => {
      this.#database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`)
      this.#useWriteAheadLog(path)
      // NORMAL syncs at checkpoints: a power cut can lose the newest commits, but never damages the file. FULL syncs each.
      this.#database.exec(`pragma synchronous = ${durability}`)
      this.#database.exec("pragma foreign_keys = on")
      this.#database.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
      this.#database.exec(`pragma journal_size_limit = ${WAL_KEPT_BYTES}`)
      this.#database.exec(`pragma cache_size = -${CACHE_KIB}`)
    })
    await this.#withRetries(() => migrate(this.#database, path))
    if (path !== ":memory:") this.#file = new OpenFile(path)
  }

  #useWriteAheadLog(path: string): void {
    const { journal_mode: mode } = this.#database.prepare("pragma journal_mode = wal").get() as {
      journal_mode: string
    }
    if (mode === "wal" || path === ":memory:") return
    throw new BelfryError(
      "BELFRY_STORE_UNFIT",
      `The file system of ${dirname(path)} can't hold a write-ahead log: SQLite stays in "${mode}" mode.`,
      { details: { path, mode }, remedy: "Put the file on a local disk." },
    )
  }
}
