import { storable } from "../../core/values/thrown.ts"
import type { Clock } from "../../runtime/clock.ts"
import { withDeadline } from "../../runtime/deadline.ts"
import type { RunLogger } from "../../task/task-context.ts"
import { failureOf, SqlFailure } from "./sql-failure.ts"
import { rowsOf, type SqlClient, type SqlNotice, type SqlPool, type SqlRow } from "./sql-pool.ts"

/** Longer than any statement around the function takes on a healthy database. */
const STATEMENT_MS = 10_000
const NOTICES_MAX = 1_000
const NOTICE_MAX_BYTES = 8_192

/** One run's connection from the pool. Notices of the function (`raise notice`) go to the run's log. */
export class SqlConnection {
  readonly #client: SqlClient
  readonly #clock: Clock
  readonly #log: RunLogger
  #isReleased = false
  #notices = 0

  constructor(client: SqlClient, clock: Clock, log: RunLogger) {
    this.#client = client
    this.#clock = clock
    this.#log = log
    client.on?.("error", ignored)
    client.on?.("notice", this.#onNotice)
  }

  /** Without a time limit. */
  async rows(text: string, values?: readonly unknown[]): Promise<readonly SqlRow[]> {
    try {
      return await rowsOf(this.#client, text, values)
    } catch (error) {
      throw failureOf(error)
    }
  }

  /** With a time limit, for statements that are quick on a healthy database. */
  rowsSoon(text: string, values?: readonly unknown[]): Promise<readonly SqlRow[]> {
    const late = () => new SqlFailure(`PostgreSQL did not answer within ${STATEMENT_MS / 1_000} s.`)
    return withDeadline(this.#clock, this.rows(text, values), { ms: STATEMENT_MS, late })
  }

  /** Rolls back and returns the connection to the pool. If that fails, closes it, which also ends the transaction. */
  async rollBack(): Promise<void> {
    if (this.#isReleased) return
    const isDone = await this.rowsSoon("rollback").then(
      () => true,
      () => false,
    )
    this.release({ mayBeUsedAgain: isDone })
  }

  release({ mayBeUsedAgain }: { mayBeUsedAgain: boolean }): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#client.off?.("notice", this.#onNotice)
    this.#client.off?.("error", ignored)
    this.#client.release(!mayBeUsedAgain)
  }

  readonly #onNotice = ({ severity, message = "" }: SqlNotice): void => {
    this.#notices++
    if (this.#notices > NOTICES_MAX) return
    const text = this.#notices === NOTICES_MAX ? "… (there are more notices)" : message
    this.#log[severity === "WARNING" ? "warn" : "info"](storable(text, NOTICE_MAX_BYTES))
  }
}

/** Waits for a free connection, until `waitMs` have passed or the run is aborted. */
export function connect(
  pool: SqlPool,
  about: { signal: AbortSignal; waitMs: number; clock: Clock; log: RunLogger },
): Promise<SqlConnection> {
  const { signal, waitMs, clock, log } = about
  const connecting = pool.connect()
  return new Promise((resolve, reject) => {
    let isAwaited = true
    const giveUp = (reason: unknown) => {
      isAwaited = false
      reject(reason)
    }
    const abort = () => giveUp(signal.reason)
    const stopTimer = clock.setTimer(waitMs, () =>
      giveUp(new SqlFailure(`No connection to PostgreSQL was free within ${waitMs / 1_000} s.`)),
    )
    signal.addEventListener("abort", abort, { once: true })
    connecting
      .then(
        // A connection that comes too late is returned unused.
        (client) => (isAwaited ? resolve(new SqlConnection(client, clock, log)) : client.release()),
        (error: unknown) => reject(failureOf(error)),
      )
      .finally(() => {
        stopTimer()
        signal.removeEventListener("abort", abort)
      })
  })
}

/** The query under way reports the error. Without a listener, a broken connection would end the process. */
function ignored(): void {}
