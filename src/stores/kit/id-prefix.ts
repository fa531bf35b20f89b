/** Sorts after every id with the prefix and before the next id without it, because ids are ASCII. */
export function endOfPrefix(prefix: string): string {
  return `${prefix}\u{10ffff}`
}
