/** Behind every id that begins with the prefix, and before the next that doesn't: ids are ASCII. */
export function endOfPrefix(prefix: string): string {
  return `${prefix}\u{10ffff}`
}
