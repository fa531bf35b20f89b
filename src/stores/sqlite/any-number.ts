import type { Statement, Value } from "./driver.ts"

/**
 * A column may hold a whole number beyond what JavaScript can count, if somebody wrote it without our checks. The driver then refuses
 * the whole read, with every other row in it. So that read is done once more, with BigInt. Such a number arrives as text: the
 * record that holds it isn't what its type says, and is found by that. All other reads are done once, as before.
 */
export function readingAnyNumber(statement: Statement): Statement {
  function again<T>(error: unknown, read: () => T): T {
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
        return rowOf(again(error, () => statement.get(...values)))
      }
    },
    all(...values: readonly Value[]) {
      try {
        return statement.all(...values)
      } catch (error) {
        return again(error, () => statement.all(...values)).map(rowOf)
      }
    },
    setReturnArrays: statement.setReturnArrays.bind(statement),
    setReadBigInts: statement.setReadBigInts.bind(statement),
  }
}

/** Both drivers say it in these words, and under several codes. */
function isTooLarge(error: unknown): boolean {
  return (
    error instanceof Error && error.message.includes("too large to be represented as a JavaScript number")
  )
}

function rowOf(row: unknown): unknown {
  if (Array.isArray(row)) return row.map(countable)
  if (row === undefined || row === null) return row
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, countable(value)]))
}

function countable(value: unknown): unknown {
  if (typeof value !== "bigint") return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}
