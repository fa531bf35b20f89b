import { seededRandom } from "../../src/testing/virtual-clock.ts"

/** The random numbers of a simulation, all from one seed. */
export interface Chance {
  /** In [0, 1). */
  next(): number
  /** True with the given probability. */
  happens(probability: number): boolean
  between(low: number, high: number): number
  pick<T>(choices: readonly T[]): T
}

export function chanceOf(seed: number): Chance {
  const next = seededRandom(seed)
  const between = (low: number, high: number) => Math.floor(low + next() * (high - low + 1))
  return {
    next,
    happens: (probability) => next() < probability,
    between,
    pick: (choices) => choices[between(0, choices.length - 1)]!,
  }
}
