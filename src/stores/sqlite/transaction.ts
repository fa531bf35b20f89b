import { realpathSync } from "node:fs"
import { BelfryError } from "../../core/errors.ts"
import type { Instant } from "../../core/time/instant.ts"
import type { Database } from "./driver.ts"
import { faultOf } from "./faults.ts"
import { Prepared } from "./prepared.ts"

/** A connection of `node:sqlite` or `@photostructure/sqlite` to the store's file, on which a transaction has begun. */
export type SqliteTransaction = Pick<Database, "prepare"> & { readonly isTransaction?: boolean }

/** Statements that were prepared on a user's connection, for as long as the connection exists. */
const PREPARED = new WeakMap<SqliteTransaction, Prepared>()

/** Work inside a user's transaction. Failed work is rolled back to a savepoint, and the transaction goes on. */
export class Transaction {
  readonly #given: SqliteTransaction
  readonly #connection: Prepared
  readonly #path: string

  constructor(given: SqliteTransaction, path: string) {
    if (typeof given?.prepare !== "function") throw unfit("within() was not given a SQLite connection.")
    this.#given = given
    this.#path = path
    this.#connection = PREPARED.get(given) ?? new Prepared(given)
    if (!PREPARED.has(given)) assertSameFile(this.#connection, path)
    PREPARED.set(given, this.#connection)
  }

  async work<T>(work: (connection: Prepared, now: Instant) => T): Promise<T> {
    if (this.#hasEnded()) {
      throw unfit("No transaction has begun on this connection, or it has ended.")
    }
    const connection = this.#connection
    try {
      connection.prepare("savepoint belfry").run()
      try {
        return work(connection, connection.now())
      } catch (error) {
        rollBack(connection)
        throw error
      } finally {
        if (!this.#hasEnded()) connection.prepare("release belfry").run()
      }
    } catch (error) {
      throw faultOf(error, this.#path)
    }
  }

  #hasEnded(): boolean {
    return this.#given.isTransaction === false
  }
}

function rollBack(connection: Prepared): void {
  try {
    connection.prepare("rollback to belfry").run()
  } catch {
    // A full disk or a failed read ends the whole transaction, and the savepoint with it. The first error is the cause.
  }
}

/** Readers of the store wouldn't see writes to another file. */
function assertSameFile(connection: Prepared, path: string): void {
  const files = readFiles(connection)
  const own = path === ":memory:" ? path : realpathSync(path)
  if (files.some((file) => file !== "" && realpathSync(file) === own)) return
  throw unfit(
    `The connection is to ${files.join(", ") || "a database in memory"}, and the store is in ${path}.`,
  )
}

function readFiles(connection: Prepared): readonly string[] {
  try {
    const rows = connection.prepare("pragma database_list").all() as { name: string; file: string | null }[]
    return rows.filter(({ name }) => name === "main").map(({ file }) => file ?? "")
  } catch (cause) {
    throw unfit("within() was not given a SQLite connection.", cause)
  }
}

function unfit(why: string, cause?: unknown): BelfryError {
  const remedy =
    "Pass a connection of node:sqlite or @photostructure/sqlite to the store's file, on which you have begun a transaction."
  return new BelfryError("BELFRY_STORE_UNFIT", why, { remedy, cause })
}
