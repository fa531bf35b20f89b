import { seededRandom } from "../../src/testing/virtual-clock.ts"

/** Everything a simulation leaves to chance comes from one seed. */
export interface Chance {
  /** In [0, 1). */
  next(): number
  isLucky(probability: number): boolean
  between(low: number, high: number): number
  pick<T>(choices: readonly T[]): T
}

export function chanceOf(seed: number): Chance {
  const next = seededRandom(seed)
  const between = (low: number, high: number) => Math.floor(low + next() * (high - low + 1))
  return {
    next,
    isLucky: (probability) => next() < probability,
    between,
    pick: (choices) => choices[between(0, choices.length - 1)]!,
  }
}
