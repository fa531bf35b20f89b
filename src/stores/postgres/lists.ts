/** Many records as parameters: one array for each column, which the statement turns into rows again. */

export type ListColumn<T> = readonly [
  column: string,
  type: string,
  read: (item: T) => unknown,
  /** The value is never null. If all records have the same value, it is sent once. */
  isShared?: "shared",
]

export function listsOf<T>(columns: readonly ListColumn<T>[], items: readonly T[]): readonly unknown[] {
  return columns.map(([, , read, isShared]) => {
    const values = items.map(read)
    if (values.length === 0) return values
    const first = values[0]
    // A column that is null in all records is sent as one null.
    if (first === null) return values.every((value) => value === null) ? null : values
    return isShared !== undefined && values.every((value) => value === first) ? [first] : values
  })
}

/** The parameter types of a function that takes these lists: `text[], text[], …`. */
export function listTypes(columns: readonly ListColumn<never>[]): string {
  return columns.map(([, type]) => `${type}[]`).join(", ")
}

/** A query that returns the rows; `place` is their order. The parameters begin at `first`. */
export function rowsOfLists(columns: readonly ListColumn<never>[], first: number): string {
  const lists = columns.map(([, type], index) => `$${first + index}::${type}[]`)
  const names = columns.map(([column]) => column)
  const values = columns.map(([column, , , isShared], index) =>
    isShared === undefined ? `u.${column}` : `coalesce(u.${column}, (${lists[index]})[1]) as ${column}`,
  )
  return `select ${[...values, "u.place"].join(", ")}
    from unnest(${lists.join(", ")}) with ordinality as u(${names.join(", ")}, place)`
}
