/** Many records as parameters: a list for each column, which the statement makes rows of again. */

export type ListColumn<T> = readonly [
  column: string,
  type: string,
  read: (item: T) => unknown,
  /** Never null, and most often the same for all: then it is sent once. */
  isShared?: "shared",
]

export function listsOf<T>(columns: readonly ListColumn<T>[], items: readonly T[]): readonly unknown[] {
  return columns.map(([, , read, isShared]) => {
    const values = items.map(read)
    if (values.length === 0) return values
    const first = values[0]
    // What nobody has costs nothing to send and to read.
    if (first === null) return values.every((value) => value === null) ? null : values
    return isShared !== undefined && values.every((value) => value === first) ? [first] : values
  })
}

/** Of the parameters of a function that takes such lists: `text[], text[], …`. */
export function listTypes(columns: readonly ListColumn<never>[]): string {
  return columns.map(([, type]) => `${type}[]`).join(", ")
}

/** A query that gives the rows, in their order by `place`; the parameters begin at `first`. */
export function rowsOfLists(columns: readonly ListColumn<never>[], first: number): string {
  const lists = columns.map(([, type], index) => `$${first + index}::${type}[]`)
  const names = columns.map(([column]) => column)
  const values = columns.map(([column, , , isShared], index) =>
    isShared === undefined ? `u.${column}` : `coalesce(u.${column}, (${lists[index]})[1]) as ${column}`,
  )
  return `select ${[...values, "u.place"].join(", ")}
    from unnest(${lists.join(", ")}) with ordinality as u(${names.join(", ")}, place)`
}
