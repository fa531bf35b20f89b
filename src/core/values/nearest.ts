/** The known name nearest to a misspelt one. Null if none is close. */
export function nearest(name: string, known: readonly string[]): string | null {
  const maxEdits = Math.max(1, Math.floor(name.length / 3))
  const [best] = known
    .map((candidate) => ({ candidate, edits: editsBetween(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ edits }) => edits <= maxEdits)
    .sort((a, b) => a.edits - b.edits)
  return best?.candidate ?? null
}

/** The Levenshtein distance: how many characters must be added, removed or replaced. */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
