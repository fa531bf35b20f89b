import { editDistance } from "./edit-distance.ts"

/** Comparing longer names takes long. */
const NAME_MAX = 60

/** The known name nearest to a misspelt one. Null if none is close. */
export function nearest(name: string, known: readonly string[]): string | null {
  if (name.length > NAME_MAX) return null
  const most = Math.max(1, Math.floor(name.length / 3))
  const distanceTo = (candidate: string) => editDistance(name.toLowerCase(), candidate.toLowerCase(), most)
  const [best] = known
    .map((candidate) => ({ candidate, distance: distanceTo(candidate) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance)
  return best?.candidate ?? null
}
