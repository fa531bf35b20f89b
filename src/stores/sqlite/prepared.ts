import type { Instant } from "../../core/time/instant.ts"
import type { Database, Statement, Value } from "./driver.ts"
import { withLargeNumbers } from "./large-numbers.ts"

const NOW = "select cast(round(unixepoch('subsec') * 1000) as integer) as now"

/** The prepared statements of a connection. In Node's SQLite, preparing one costs ten index seeks, so each is prepared once. */
export class Prepared {
  readonly #database: Pick<Database, "prepare">
  readonly #statements = new Map<string, Statement>()
  readonly #listings = new Map<string, Statement>()

  constructor(database: Pick<Database, "prepare">) {
    this.#database = database
  }

  prepare(sql: string): Statement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = withLargeNumbers(this.#database.prepare(sql))
      this.#statements.set(sql, statement)
    }
    return statement
  }

  /** Returns rows as lists, which is faster for rows of many columns. */
  rows<Row>(sql: string, values: readonly Value[]): readonly Row[] {
    let statement = this.#listings.get(sql)
    if (statement === undefined) {
      statement = withLargeNumbers(this.#database.prepare(sql))
      statement.setReturnArrays(true)
      this.#listings.set(sql, statement)
    }
    return statement.all(...values) as Row[]
  }

  /** The host's clock, as SQLite reads it. */
  now(): Instant {
    return (this.prepare(NOW).get() as { now: number }).now
  }

  protected clear(): void {
    this.#statements.clear()
    this.#listings.clear()
  }
}
