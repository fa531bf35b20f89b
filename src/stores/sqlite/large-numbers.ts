import type { Statement, Value } from "./driver.ts"

/**
 * A column may hold a whole number above `Number.MAX_SAFE_INTEGER`, if it was written by SQL directly, without our checks. The
 * driver then refuses the whole read, with all its rows. So the read is repeated with BigInt, and the number is returned as
 * text: its record then has the wrong type, and is treated as unreadable. All other reads happen once.
 */
export function withLargeNumbers(statement: Statement): Statement {
  function withBigInts<T>(error: unknown, read: () => T): T {
    if (!isTooLarge(error)) throw error
    statement.setReadBigInts(true)
    try {
      return read()
    } finally {
      statement.setReadBigInts(false)
    }
  }
  return {
    run: statement.run.bind(statement),
    get(...values: readonly Value[]) {
      try {
        return statement.get(...values)
      } catch (error) {
        return rowOf(withBigInts(error, () => statement.get(...values)))
      }
    },
    all(...values: readonly Value[]) {
      try {
        return statement.all(...values)
      } catch (error) {
        return withBigInts(error, () => statement.all(...values)).map(rowOf)
      }
    },
    setReturnArrays: statement.setReturnArrays.bind(statement),
    setReadBigInts: statement.setReadBigInts.bind(statement),
  }
}

/** Both drivers use this message, with several codes. */
function isTooLarge(error: unknown): boolean {
  return (
    error instanceof Error && error.message.includes("too large to be represented as a JavaScript number")
  )
}

function rowOf(row: unknown): unknown {
  if (Array.isArray(row)) return row.map(numberOrText)
  if (row === undefined || row === null) return row
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, numberOrText(value)]))
}

function numberOrText(value: unknown): unknown {
  if (typeof value !== "bigint") return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}
